import type { CompactionStage } from '../contracts/budget-report.js';
import type { DispatchRequest } from '../contracts/compile-request.js';
import type { RankedFact } from '../facts/fact-types.js';
import { formatRelevantLearnings, type LearningsInPrompt } from '../learnings/format-learnings.js';
import type { LikelyFile } from '../search/likely-files.js';
import { factsOf, type SessionState, tracesOf } from '../session/session-state.js';
import { hashOf } from '../shared/hash.js';
import { quoted } from '../shared/text.js';
import {
  compactedReport,
  RECENT_STEPS,
  recentLines,
  type Summary,
  summarise,
} from '../traces/trace-summary.js';
import type { CompiledAs } from './compiled-prompt.js';
import { barePacket, type DeltaPacket, deltaPacket, pruningOrder } from './delta-packet.js';
import { describeFacts } from './described-facts.js';
import { describeLearnings, learningsShare } from './described-learnings.js';
import { guideLine } from './guide-line.js';
import { type Candidate, firstFitting, type PromptBudget } from './prompt-budget.js';
import { replanLines } from './replan-lines.js';
import { describeFiles, factsFor, filesFor, sessionContextOf } from './session-context.js';
import { essentialsOf, objectiveOf } from './shorten.js';
import { stablePrefix } from './stable-prefix.js';
import { unreadableLine } from './unreadable-line.js';

/**
 * A dispatch prompt: the stable prefix of the role, then the dynamic tail: task, output budget, whether its last result
 * could be read, delta packet, replan section, guide, learnings, session context, task prompt. What has no content is left out altogether.
 *
 * A prompt over its budget is made to fit in stages: low-value ledger fields, likely files, learnings and
 * facts go first, then the task prompt is cut to its objective and constraints, then the work that the ledger names goes, then only the objective stays. The
 * compacted history goes last of all. Blockers, required fixes and that a result could not be read are
 * never cut.
 */
interface Tail {
  /** That the last result of the task could not be read; empty where it could. */
  readonly unreadable: string;
  readonly packet: DeltaPacket;
  readonly replan: readonly string[];
  /** Says what to do first, of this packet; absent for none. */
  readonly guide?: (packet: DeltaPacket) => string;
  readonly learnings: LearningsInPrompt;
  readonly facts: readonly RankedFact[];
  readonly files: readonly LikelyFile[];
  /** Trace entries of the active intent since its last block. */
  readonly recent: readonly string[];
  readonly taskPrompt: string;
  /** Compacted history of the active intent; it stands before the stable prefix. */
  readonly summary: Summary | null;
}

/** @throws ThroughlineError `prompt_overflow` when what must be in the prompt does not fit */
export function compileDispatch(
  state: SessionState,
  request: DispatchRequest,
  budget: PromptBudget,
  known?: LearningsInPrompt,
): CompiledAs<'dispatch'> {
  const store = factsOf(state);
  const { learnings, tokens } = learningsShare(known, request.maxTokens);
  const files = filesFor(state, request.taskPrompt, request);
  const facts = factsFor(state, request.taskPrompt, request, files, request.maxTokens - tokens);
  const stable = request.systemPrompt ?? stablePrefix(request.role);
  const trace =
    request.activeIntentId === undefined ? undefined : tracesOf(state).intents.get(request.activeIntentId);
  const summary = trace === undefined ? null : summarise(trace, budget.tokenizer, budget.maxSummaryTokens);
  const full: Tail = {
    unreadable: unreadableLine(state, request.taskId, request.role),
    packet: deltaPacket(state, request.taskId, request.role),
    replan: replanLines(state, request.taskId, request.role),
    guide: (packet) => guideLine(state, request.taskId, request.role, packet),
    learnings,
    facts,
    files,
    recent: trace === undefined ? [] : recentLines(trace),
    taskPrompt: request.taskPrompt,
    summary,
  };
  const systemOf = (tail: Tail) => (tail.summary === null ? stable : `${tail.summary.text}\n\n${stable}`);
  const written = (tail: Tail) =>
    `${systemOf(tail)}\n\n${render(tail, request.taskId, budget.maxOutputTokens)}`;
  const { prompt: tail, report } = firstFitting(
    candidates(full, pruningOrder(request.role), barePacket(state, request.taskId)),
    written,
    request.role,
    budget,
  );
  const prompt = written(tail);
  const system = systemOf(tail);
  return {
    kind: 'dispatch',
    prompt,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: prompt.slice(system.length + 2) },
    ],
    sessionContext: sessionContextOf(tail.facts, tail.files),
    ...describeFiles(tail.files),
    ...describeFacts(tail.facts, store.count(), request.explain),
    ...(known && describeLearnings(tail.learnings)),
    tokenEstimate: report.tokensAfter,
    compacted: tail.summary && compactedReport(tail.summary),
    stablePrefixHash: hashOf(stable),
    fullPromptHash: hashOf(prompt),
    budget: report,
  };
}

/** From the whole prompt to the barest one. */
function* candidates(
  whole: Tail,
  { cheap, dear, last }: ReturnType<typeof pruningOrder>,
  barest: DeltaPacket,
): Generator<Candidate<Tail>> {
  const as = (stage: CompactionStage, prompt: Tail) => ({ stage, prompt });
  yield as('none', whole);
  if (whole.recent.length > 0) yield as('pruned', { ...whole, recent: [] });
  const full = { ...whole, recent: [] };
  for (const left of less(full.packet, cheap)) yield as('pruned', { ...full, packet: left });
  const cheapest = { ...full, packet: without(full.packet, cheap) };
  for (let kept = full.files.length; kept > 0; ) {
    kept = Math.floor(kept / 2);
    yield as('pruned', { ...cheapest, files: full.files.slice(0, kept) });
  }
  const pruned = { ...cheapest, files: [], learnings: { ...full.learnings, ranked: [] } };
  if (full.learnings.ranked.length > 0) yield as('pruned', pruned);
  for (let kept = full.facts.length - 1; kept >= 0; kept = kept > 20 ? Math.floor(kept / 2) : kept - 1) {
    yield as('pruned', { ...pruned, facts: full.facts.slice(0, kept) });
  }
  for (const left of less(pruned.packet, dear)) yield as('pruned', { ...pruned, packet: left, facts: [] });
  const dearest = without(pruned.packet, dear);
  const short = { ...pruned, packet: dearest, facts: [], taskPrompt: essentialsOf(full.taskPrompt) };
  yield as('shortened', short);
  for (const left of less(dearest, last)) yield as('shortened', { ...short, packet: left });
  const { guide: _, ...unguided } = short;
  const objective = { ...unguided, replan: [], taskPrompt: objectiveOf(full.taskPrompt) };
  yield as('minimal', { ...objective, packet: without(dearest, last) });
  const minimal = { ...objective, packet: barest };
  yield as('minimal', minimal);
  if (minimal.summary !== null) yield as('minimal', { ...minimal, summary: null });
}

function render(
  { unreadable, packet, replan, guide, learnings, facts, files, recent, taskPrompt }: Tail,
  taskId: string,
  maxOutputTokens: number,
): string {
  const sections = [
    `Task: ${quoted(taskId)}\nOutput budget: ${maxOutputTokens} tokens`,
    unreadable,
    Object.keys(packet).length === 0 ? '' : `Ledger:\n${JSON.stringify(packet)}`,
    replan.join('\n'),
    guide?.(packet) ?? '',
    formatRelevantLearnings(learnings),
    sessionContextOf(facts, files),
    recent.length === 0 ? '' : [RECENT_STEPS, ...recent].join('\n'),
    `Task prompt:\n${taskPrompt}`,
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

/** The packet with ever fewer of its fields. */
function less(packet: DeltaPacket, fields: readonly (keyof DeltaPacket)[]): DeltaPacket[] {
  return fields.map((_, index) => without(packet, fields.slice(0, index + 1)));
}

function without(packet: DeltaPacket, fields: readonly (keyof DeltaPacket)[]): DeltaPacket {
  return Object.fromEntries(
    Object.entries(packet).filter(([field]) => !fields.some((each) => each === field)),
  );
}

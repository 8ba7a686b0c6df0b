import type { DispatchRequest } from '../contracts/compile-request.js';
import { type LearningsInPrompt, NO_LEARNINGS } from '../learnings/format-learnings.js';
import { factsOf, type SessionState, tracesOf } from '../session/session-state.js';
import { hashOf } from '../shared/hash.js';
import { onceFor } from '../shared/once-for.js';
import { quoted } from '../shared/text.js';
import { compactedReport, RECENT_STEPS, recentLines, summarise } from '../traces/trace-summary.js';
import { chosenFacts, type TellFacts } from './chosen-facts.js';
import { compactedItems } from './compacted-items.js';
import type { CompiledAs } from './compiled-prompt.js';
import { describeConsidered } from './considered.js';
import { barePacket, type DeltaPacket, deltaPacket } from './delta-packet.js';
import { describeFacts } from './described-facts.js';
import { describeLearnings, learningItems, learningsShown } from './described-learnings.js';
import { beginnings } from './excerpt.js';
import { fillPrompt, type PromptPlan, type Shown, type Stretch, wholeItems } from './fill-prompt.js';
import { guideLine } from './guide-line.js';
import { leftOutLine, projectOption, shellWord } from './left-out.js';
import { packetItems, packetStretches, shownPacket } from './packet-items.js';
import { dispatchRoom, type PromptBudget, promptOverflow } from './prompt-budget.js';
import { describeLines, joinedParts, learningsPart, notesPart, type PromptPart } from './prompt-parts.js';
import { replanLines } from './replan-lines.js';
import {
  bestFirst,
  cappedMemory,
  describeFiles,
  FILLER,
  factsShown,
  filesShown,
  memoryOf,
  NOTE_SECTIONS,
  notesLeftOut,
} from './session-notes.js';
import { stablePrefix } from './stable-prefix.js';
import { taskTextOf, writtenTask } from './task-text.js';
import { unreadableLine } from './unreadable-line.js';

/**
 * A dispatch prompt: the stable prefix of the role, then the dynamic tail: task, output budget, whether its last result
 * could be read, delta packet, replan section, guide, learnings, session context, recent steps, task prompt. What has no
 * content is left out altogether.
 *
 * The room goes to what is worth most: objective, blockers and required fixes are always there; then come what the agent
 * must do first, the constraints, and the best few of each kind of memory; then the rest of the task prompt; then the rest.
 */
const SECTIONS = [
  'task',
  'required_fixes',
  'blockers',
  'places',
  'ledger',
  'replan',
  'guide',
  'history',
  'learnings',
  ...NOTE_SECTIONS,
  'recent',
] as const;
type Section = (typeof SECTIONS)[number];

/** How many of each kind of memory come before the rest of the task prompt. */
const BEST: readonly Stretch<Section>[] = [
  { section: 'findings', most: 3 },
  { section: 'files', most: 5 },
  { section: 'decisions', most: 3 },
  { section: 'work', most: 2 },
  { section: 'tests', most: 2 },
  { section: 'learnings', most: 1 },
];

const REST: readonly Stretch<Section>[] = [
  { section: 'findings' },
  { section: 'decisions' },
  { section: 'learnings' },
  { section: 'tests' },
  { section: 'work' },
  { section: 'files' },
  { section: 'requirements' },
  { section: 'facts' },
  { section: 'recent', backwards: true },
];

/** @throws ThroughlineError `prompt_overflow` when what must be in the prompt does not fit */
export function compileDispatch(
  state: SessionState,
  request: DispatchRequest,
  budget: PromptBudget,
  given?: LearningsInPrompt,
  tell?: TellFacts,
): CompiledAs<'dispatch'> {
  const { taskId, role, taskPrompt, binary, maxTokens, activeIntentId } = request;
  const stable = request.systemPrompt ?? stablePrefix(role);
  const { room, usual, outputTokens } = dispatchRoom(budget, role, request.budget);
  const trace = activeIntentId === undefined ? undefined : tracesOf(state).intents.get(activeIntentId);
  const summary = trace === undefined ? null : summarise(trace, budget.tokenizer, budget.maxSummaryTokens);
  const past = compactedItems(summary);
  const unreadable = unreadableLine(state, taskId, role);
  const packet = packetItems(deltaPacket(state, taskId, role), barePacket(state, taskId));
  const guided = (shown: DeltaPacket) => guideLine(state, taskId, role, shown);
  const task = taskTextOf(taskPrompt);
  const learnings = given ?? NO_LEARNINGS;
  const memory = cappedMemory(
    memoryOf(state, { ...request, text: taskPrompt }, { room, usual }),
    learningItems(learnings),
    maxTokens,
  );
  const worth = packetStretches(packet, role);
  const recent = (trace === undefined ? [] : recentLines(trace)).map((line) => ({ forms: beginnings(line) }));
  const at = { session: state.session, binary, task: taskId };
  const trail = `${binary} trace show ${state.session} --intent ${shellWord(quoted(activeIntentId ?? ''))}`;

  const context = onceFor((shown: Shown<Section>) => notesPart(memory, shown, at));
  const known = state.dispatches.current().ledgers.get(taskId);
  const fromLedger = { task: taskId, ...(known !== undefined && { dispatch: known.last.sequence }) };
  const systemParts = (shown: Shown<Section>): PromptPart[] => [
    { section: 'history', text: past.written(shown.history) },
    { section: 'prefix', text: stable },
  ];
  const tailParts = (shown: Shown<Section>): PromptPart[] => {
    const fields = shownPacket(packet, shown);
    const left = leftOutLine([
      {
        name: 'the ledger',
        items: [...packet.places, ...packet.ledger],
        shown: [...shown.places, ...shown.ledger],
        command: `${binary} ledger ${state.session} --task ${shellWord(quoted(taskId))}`,
      },
      {
        name: 'the learnings',
        items: memory.learnings,
        ...(memory.totals.learnings !== undefined && { total: memory.totals.learnings }),
        shown: shown.learnings,
        command: `${binary} learnings ls${projectOption(request.project ?? state.charter.project)}`,
      },
      notesLeftOut(memory, shown, at),
      {
        name: 'the lines of the compacted history',
        items: past.items,
        shown: shown.history,
        command: trail,
      },
      {
        name: 'the recent steps',
        items: recent,
        shown: shown.recent,
        command: trail,
      },
    ]);
    return [
      {
        section: 'head',
        text: `Task: ${quoted(taskId)}\nOutput budget: ${outputTokens} tokens`,
        origin: { task: taskId },
      },
      { section: 'unreadable', text: unreadable, origin: { task: taskId } },
      {
        section: 'ledger',
        text: Object.keys(fields).length === 0 ? '' : `Ledger:\n${JSON.stringify(fields)}`,
        origin: fromLedger,
      },
      { section: 'replan', text: shown.replan.map(({ text }) => text).join('\n'), origin: fromLedger },
      { section: 'guide', text: shown.guide.length === 0 ? '' : guided(fields), origin: fromLedger },
      learningsPart(learnings, shown.learnings),
      context(shown),
      {
        section: 'recent',
        text:
          shown.recent.length === 0 ? '' : [RECENT_STEPS, ...shown.recent.map(({ text }) => text)].join('\n'),
      },
      { section: 'left_out', text: left },
      { section: 'task', text: `Task prompt:\n${writtenTask(task, shown.task)}`, origin: { task: taskId } },
    ];
  };
  const writeSystem = onceFor((shown: Shown<Section>) => joinedParts(systemParts(shown)));
  const writeTail = onceFor((shown: Shown<Section>) => joinedParts(tailParts(shown)));
  const plan: PromptPlan<Section> = {
    sections: {
      ...memory.sections,
      ...{ required_fixes: packet.required_fixes, blockers: packet.blockers, places: packet.places },
      ledger: packet.ledger,
      replan: wholeItems(replanLines(state, taskId, role)),
      guide: wholeItems([guided(deltaPacket(state, taskId, role))]),
      history: past.items,
      learnings: memory.learnings,
      recent,
      task: task.lines,
    },
    totals: memory.totals,
    essential: [{ section: 'required_fixes' }, { section: 'blockers' }],
    order: bestFirst(
      [
        ...[{ section: 'guide' as const }, { section: 'replan' as const }, { section: 'places' as const }],
        ...worth.first,
        { section: 'task', only: task.constraints },
        ...worth.next,
        { section: 'history', only: past.demands },
        ...BEST,
        { section: 'history' },
        { section: 'task' },
        ...REST,
        ...worth.last,
      ],
      memory,
    ),
    filler: { section: FILLER, room: usual },
    write: (shown) => `${writeSystem(shown)}\n\n${writeTail(shown)}`,
  };
  const { shown, prompt, report } = fillPrompt(plan, room, budget.tokenizer, (tokens) =>
    promptOverflow(`the ${role} prompt`, tokens, room),
  );
  const facts = factsShown(memory, shown);
  const files = filesShown(memory, shown);
  tell?.(chosenFacts(memory, facts));
  return {
    kind: 'dispatch',
    prompt,
    messages: [
      { role: 'system', content: writeSystem(shown) },
      { role: 'user', content: writeTail(shown) },
    ],
    sessionContext: context(shown).text,
    ...describeFiles(files),
    ...describeFacts(facts, factsOf(state).count(), request.explain),
    ...(request.explain && {
      ...describeConsidered(memory, facts, files),
      ...describeLines(prompt, [...systemParts(shown), ...tailParts(shown)]),
    }),
    ...(given && describeLearnings(learningsShown(learnings, shown.learnings))),
    tokenEstimate: report.used,
    compacted: summary === null || shown.history.length === 0 ? null : compactedReport(summary),
    stablePrefixHash: hashOf(stable),
    fullPromptHash: hashOf(prompt),
    budget: report,
  };
}

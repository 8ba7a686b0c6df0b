import { type CompileRequest, type Including, includes } from '../contracts/compile-request.js';
import { assertNever } from '../contracts/errors.js';
import { RECENT_STEPS, type ReplyPart } from '../contracts/kinds.js';
import { formatLearning, type LearningsInPrompt, NO_LEARNINGS } from '../memory/learnings/learnings-state.js';
import type { WordVectors } from '../memory/search/word-vectors.js';
import { factsOf, type SessionState, seenState, tracesOf } from '../memory/session/session-state.js';
import { compactedReport, recentLines, summarise } from '../memory/traces/trace-summary.js';
import { onceFor } from '../shared/collections.js';
import { quoted, shellWord } from '../shared/text.js';
import { DISPATCH } from './dispatch-prompt.js';
import {
  beginnings,
  fillPrompt,
  type Item,
  type Listed,
  learningsCommand,
  leftOutLine,
  type Sections,
  type Shown,
  type ShownItem,
  titled,
  toolCommand,
  wholeItems,
} from './fill-prompt.js';
import { ITERATION } from './iteration-prompt.js';
import { placeholdersOf } from './iteration-template.js';
import {
  type Chosen,
  type CommonSection,
  type CompiledAs,
  chosenOf,
  DEFAULT_BUDGET,
  describeConsidered,
  describeFact,
  describeFile,
  describeLearnings,
  describeLines,
  joinedParts,
  learningsPart,
  learningsShown,
  notesPart,
  type PromptBudget,
  type PromptDescriptor,
  promptOverflow,
} from './prompt-kind.js';
import {
  bestFirst,
  cappedMemory,
  factsShown,
  filesShown,
  memoryOf,
  type NoteSection,
  notesLeftOut,
} from './session-notes.js';
import { SESSION_START } from './session-start-prompt.js';
import { taskText, whatIsAhead } from './task-text.js';

/** A compiled prompt with the facts and learnings that it shows, and the facts that it leaves out. */
export type Compiled<Request extends CompileRequest> = Including<CompiledAs<Request['kind']>, Request> & {
  readonly chosen: Chosen;
};

/**
 * Compiles a prompt of the requested kind. Depends only on state, request, budget, learnings and word vectors.
 *
 * @param learnings of the session's project, if the request needs any
 * @param words orders facts by meaning as well; absent: words alone decide
 * @throws ThroughlineError `prompt_overflow` if the essentials do not fit, `template_invalid` that names each unknown
 * placeholder of a template
 */
export function compilePrompt<Request extends CompileRequest>(
  state: SessionState,
  request: Request,
  budget?: PromptBudget,
  learnings?: LearningsInPrompt,
  words?: WordVectors,
): Compiled<Request>;
export function compilePrompt(
  kept: SessionState,
  request: CompileRequest,
  budget: PromptBudget = DEFAULT_BUDGET,
  learnings?: LearningsInPrompt,
  words?: WordVectors,
): Compiled<CompileRequest> {
  const state = seenState(kept);
  const given = { budget, learnings, words };
  switch (request.kind) {
    case 'dispatch':
      return compileKind(DISPATCH, state, { ...request, taskPrompt: taskText(state, request) }, given);
    case 'iteration':
      return compileKind(ITERATION, state, request, given);
    case 'session-start':
      return compileKind(SESSION_START, state, request, given);
    default:
      return assertNever(request);
  }
}

interface Given {
  readonly budget: PromptBudget;
  readonly learnings: LearningsInPrompt | undefined;
  readonly words: WordVectors | undefined;
}

/** The pipeline of every kind: select the memory, lay it out in sections, fill the budget, describe the result. */
function compileKind<Request extends CompileRequest, Section extends string, Own extends object>(
  kind: PromptDescriptor<Request, Section, Own>,
  state: SessionState,
  request: Request,
  { budget, learnings: given, words }: Given,
) {
  const { session, charter } = state;
  const { binary, taskPrompt } = request;
  const { name, room, taskId, intent, intro } = kind.asks(request, budget);
  const asks = (part: ReplyPart) => includes(request, part);
  const learnings = given ?? NO_LEARNINGS;
  // At its start an agent that does not say what it will do needs no more than the session's own lines.
  const isStart = request.kind === 'session-start';
  const none = isStart && taskPrompt === undefined;
  const query = {
    ...request,
    ...(none && { maxFacts: 0, maxFiles: 0 }),
    text: taskPrompt ?? whatIsAhead(state),
    taskId,
    withoutNotes:
      request.kind === 'iteration' && placeholdersOf(request.template ?? '{{notes}}').has('notes'),
    explain: asks('considered'),
  };
  const memory = cappedMemory(
    memoryOf(state, query, room, words),
    wholeItems(learnings.ranked.map((entry) => formatLearning(entry, isStart))),
    request.maxTokens,
  );
  const at = {
    session,
    binary,
    ...(request.kind === 'dispatch' && { task: taskId }),
    ...(intro !== undefined && { intro }),
  };
  const trace = traceItems(state, intent, budget.maxSummaryTokens, binary);
  const common: Sections<CommonSection> = {
    ...memory.sections,
    learnings: memory.learnings,
    compacted: trace.history,
    recent: trace.recent,
  };
  const command = (words: string) => toolCommand(binary, session, words);
  const draft = kind.draft({ state, request, learnings, demands: trace.demands, common, command });
  const sections = { ...common, ...draft.sections } as Sections<Section | CommonSection>;
  const notes = onceFor((shown: Shown<NoteSection>) => notesPart(memory, shown, at));
  const partsOf = onceFor((shown: Shown<Section | CommonSection>) => {
    const leftOut = leftOutLine([
      ...draft.lists.map((list) => ({
        name: list.name,
        command: list.command,
        items: list.sections.flatMap((section) => sections[section]),
        shown: list.sections.flatMap((section) => shown[section]),
        total: list.sections.reduce((sum, name) => sum + (draft.totals?.[name] ?? sections[name].length), 0),
      })),
      {
        name: 'the learnings',
        items: sections.learnings,
        shown: shown.learnings,
        total: sections.learnings.length === 0 ? 0 : memory.totals.learnings,
        command: learningsCommand(binary, request.project ?? charter.project),
      },
      notesLeftOut({ ...memory, sections }, shown, at),
      ...trace.leftOut(shown.compacted, shown.recent),
    ]);
    return draft.parts(shown, {
      compacted: { section: 'compacted', text: trace.written(shown.compacted), message: 'system' },
      learnings: learningsPart(learnings, shown.learnings, isStart),
      notes: notes(shown),
      recent: trace.recentPart(shown.recent),
      leftOut: { section: 'left_out', text: leftOut },
    });
  });
  const { shown, prompt, report } = fillPrompt<Section | CommonSection>(
    {
      sections,
      essential: draft.essential ?? [],
      order: bestFirst(draft.order, memory),
      totals: { ...memory.totals, ...draft.totals } as NonNullable<typeof draft.totals>,
      write: (some) => joinedParts(partsOf(some)),
    },
    room,
    (tokens) => promptOverflow(name, tokens, room),
  );
  const facts = factsShown(memory, shown);
  const draftFacts = draft.facts?.(shown) ?? [];
  const files = filesShown(memory, shown);
  const parts = partsOf(shown);
  return {
    prompt,
    ...(asks('sessionContext') && { sessionContext: notes(shown).text }),
    ...(asks('files') && { files: files.map(describeFile) }),
    ...(asks('facts') && { facts: facts.map(describeFact) }),
    ...(asks('considered') && { considered: describeConsidered(memory, facts, files) }),
    ...(asks('lines') && { lines: describeLines(prompt, parts, memory) }),
    factsShown: facts.length + draftFacts.length,
    factsTotal: factsOf(state).count(),
    ...(given && describeLearnings(learnings, shown.learnings, asks('learnings'))),
    ...(memory.vectors !== undefined && { vectors: memory.vectors }),
    tokenEstimate: report.used,
    compacted: trace.report(shown.compacted),
    ...draft.replyFields(shown, parts, prompt),
    budget: report,
    chosen: chosenOf(memory, facts, draftFacts, learningsShown(learnings, shown.learnings).ranked),
  };
}

/** Returns the trace of an intent as items: its compacted history by lines, and the steps since. */
function traceItems(
  state: SessionState,
  intent: string | undefined,
  maxSummaryTokens: number,
  binary: string,
) {
  const trace = intent === undefined ? undefined : tracesOf(state).intents.get(intent);
  const summary = trace === undefined ? null : summarise(trace, maxSummaryTokens);
  const { parts = [], demands = 0 } = summary ?? {};
  const history = parts.map(
    (text, index): Item => ({
      whole: text,
      // The tallies are one unit.
      get forms() {
        return index === 0 ? [text] : beginnings(text);
      },
    }),
  );
  const recent = (trace === undefined ? [] : recentLines(trace)).map((line) => ({ forms: beginnings(line) }));
  const command = `${binary} log ${state.session} --trace ${shellWord(quoted(intent ?? ''))}`;
  return {
    /** By importance. */
    history,
    /** Indexes of constraints and requests in the history. */
    demands: new Set(Array.from({ length: demands }, (_, index) => index)),
    recent,
    written: (shown: readonly ShownItem[]) =>
      shown.length === 0
        ? ''
        : (summary?.write(new Map(shown.map(({ index, text }) => [index, text]))) ?? ''),
    recentPart: (shown: readonly ShownItem[]) => ({ section: 'recent', text: titled(RECENT_STEPS, shown) }),
    leftOut: (some: readonly ShownItem[], steps: readonly ShownItem[]): Listed[] => [
      { name: 'the lines of the compacted history', items: history, shown: some, command },
      { name: 'the recent steps', items: recent, shown: steps, command },
    ],
    report: (shown: readonly ShownItem[] = []) =>
      summary === null || shown.length === 0 ? null : compactedReport(summary),
  };
}

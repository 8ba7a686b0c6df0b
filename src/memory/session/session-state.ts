import { z } from 'zod';
import { KEPT } from '../../contracts/kept-limits.js';
import { kindOf, ROLES, type Role } from '../../contracts/kinds.js';
import type { LeftTask, TasksDocument } from '../../contracts/plan-requests.js';
import { recordedFact, statementEnds } from '../../contracts/recorded-fact.js';
import { RELATIONS } from '../../contracts/relations.js';
import type { inboxMessage } from '../../contracts/replies/session-reply.js';
import { RESULT_KEY_LENGTH } from '../../contracts/results.js';
import type { Output } from '../../contracts/schema-fields.js';
import type { DispatchRejected } from '../../contracts/session-events.js';
import { recordedEntry } from '../../contracts/trace-entry.js';
import { withKeptIds } from '../../ledger/kept-ids.js';
import type { UnreadableResult } from '../../ledger/ledger-entries.js';
import { outlookOf, type PlanOutlook } from '../../ledger/next-task.js';
import { type OutcomeDigest, outcomeDigest } from '../../ledger/outcome-digest.js';
import { foldDispatch, type QuestionAnswer, questionKey, type TaskLedger } from '../../ledger/task-ledger.js';
import { defined, dropOldest, onceForEach } from '../../shared/collections.js';
import { clipText, quoted } from '../../shared/text.js';
import { failedIn, sessionFact } from '../facts/fact-extractor.js';
import { InMemorySessionFactStore, MAX_FACT_BYTES } from '../facts/fact-store.js';
import { type Answer, factId, type SessionFact } from '../facts/fact-types.js';
import { PastResults } from '../search/past-results.js';
import { knownAs } from '../search/path-table.js';
import { tokens } from '../search/tokens.js';
import { addDispatch, addPending, emptyTraces, type Traces } from '../traces/session-traces.js';
import type { Charter, Run } from './charter.js';
import { countResult, type DispatchFold, DispatchWindow } from './dispatch-window.js';
import type { IterationHistory } from './iterations.js';
import { addBoardResult, type BoardResult, claimOf, movedBoard, type TaskBoard } from './task-board.js';

/** Limits that shape the fold; a snapshot with other limits is not used. */
export interface SessionLimits {
  /** Number of facts, closed ones included. */
  readonly maxFacts: number;
}

export const DEFAULT_LIMITS: SessionLimits = { maxFacts: 2000 };

export const rejected = z.object({
  sequence: z.number(),
  /** Sequence of its session event. */
  event: z.number(),
  role: z.enum(ROLES).exactOptional(),
  task: z.string().exactOptional(),
  error: z.object({
    code: z.string(),
    reason: z.string(),
    fix: z.string().exactOptional(),
    /** The role that it seems to belong to. */
    meant: z.enum(ROLES).exactOptional(),
  }),
});
export type Rejected = Output<typeof rejected>;

/** `answered`: later work or a later review of the task was readable, so this one need not be returned again. */
export const knownRejection = rejected.extend({ answered: z.literal(true).exactOptional() });
type KnownRejection = Output<typeof knownRejection>;

export function rejectedBy({ data }: DispatchRejected, event: number): Rejected {
  const { sequence, role, task } = data.dispatch;
  const { code, reason, fix, meant } = data.error;
  const [why, how] = [reason, fix].map((text) => text && clipText(text, KEPT.rejection.text));
  const error = defined({ code, reason: why ?? '', fix: how, meant });
  return defined({ sequence, event, role, task, error });
}

function addRejection(known: KnownRejection[], one: Rejected, ledgers: ReadonlyMap<string, Result>) {
  const at = known.findLastIndex(({ sequence }) => sequence < one.sequence) + 1;
  known.splice(at, 0, one);
  answerRejections(known, ledgers.get(one.task ?? ''));
  if (known.length > KEPT.rejection.list) known.shift();
}

type Result = Pick<TaskLedger, 'task' | 'last'>;

/** Marks the rejections of a task that are older than its newest readable result. */
function answerRejections(known: KnownRejection[], result: Result | undefined): void {
  for (const [index, rejection] of known.entries())
    if (rejection.task === result?.task && rejection.sequence < (result?.last.sequence ?? 0))
      known[index] = { ...rejection, answered: true };
}

/** Returns the newest unanswered rejection of a task, or of a role of it. A note that is lost leaves nothing to do. */
export function unreadOf(known: readonly KnownRejection[], task: string, role?: Role) {
  return known.findLast(
    (rejection) =>
      rejection.task === task &&
      rejection.answered !== true &&
      (rejection.role === undefined ||
        (kindOf(rejection.role).part !== 'note' && [undefined, rejection.role].includes(role))),
  );
}

export function unreadableTasks(known: readonly KnownRejection[]) {
  return known.flatMap((rejection) => {
    const { task } = rejection;
    return task !== undefined && unreadOf(known, task) === rejection
      ? [{ task, ...unreadableResult(rejection) }]
      : [];
  });
}

export function unreadableResult({ sequence, role, error }: Rejected): UnreadableResult {
  return { dispatch: sequence, ...(role !== undefined && { role }), ...error };
}

/** A dispatch while it may still be overtaken. */
export const dispatchEntry = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('recorded'),
    sequence: z.number(),
    at: z.string(),
    /** Sequence of its session event. */
    event: z.number(),
    role: z.enum(ROLES),
    task: z.string(),
    facts: z.array(recordedFact),
    digest: outcomeDigest,
    /** Key that recognizes the result if it is published again. */
    result: z.string().length(RESULT_KEY_LENGTH).exactOptional(),
    trace: recordedEntry.exactOptional(),
    ends: statementEnds.exactOptional(),
  }),
  z.object({ kind: z.literal('rejected'), at: z.string(), ...rejected.shape }),
]);
export type DispatchEntry = Output<typeof dispatchEntry>;

export interface DispatchMemory {
  readonly facts: InMemorySessionFactStore;
  readonly counts: Record<Role | 'rejected', number>;
  /** By task, the most recent at the end. */
  readonly ledgers: Map<string, TaskLedger>;
  readonly traces: Traces;
  /** Keys of the newest counted results. */
  readonly results: Set<string>;
  /** The newest rejections, in dispatch order. */
  readonly rejections: KnownRejection[];
  /** Summaries and files of results, kept longer than their facts. */
  readonly past: PastResults;
  /** By board task, the most recent at the end. */
  readonly boardResults: Map<string, BoardResult>;
}

/** A message for the next agent. */
export type InboxMessage = Output<typeof inboxMessage>;

/** The messages of a session, in order of arrival. Notes and answers are statements, among the facts. */
export interface Notebook {
  readonly inbox: Map<string, InboxMessage>;
  lastMessage: number;
  /** Number of the newest note or answer ever added: `N7` is the statement of `NOT-7`. */
  lastNote: number;
}

/** The fold of a session's events. Only `evolve` changes it. */
export interface SessionState {
  readonly session: string;
  readonly limits: SessionLimits;
  readonly dispatches: DispatchWindow<DispatchEntry, DispatchMemory>;
  readonly charter: Charter;
  run: Run | undefined;
  /** The tasks of the plan that the session followed, while it follows none. */
  left: readonly LeftTask[];
  /** Changed by commands only; `seenState` applies results. */
  readonly board: TaskBoard;
  readonly notebook: Notebook;
  readonly history: IterationHistory;
  /** Sequence up to which the log has been folded; 0 before the first event. */
  sequence: number;
  /** Sequence of the newest event that counted; 0 before the first. Other messages may follow it. */
  lastEvent: number;
  /** Sequence of the newest command that counted; 0 before the first. */
  lastCommand: number;
  /** Time of the newest event, ISO 8601; empty before the first. Prompts compute ages from it. */
  lastEventAt: string;
  /** Time of the oldest event, ISO 8601; empty before the first. */
  startedAt: string;
  /** Sequence of the newest checkpoint, at which everything before it counts; 0 for none. */
  checkpoint: number;
  /** Number above which the ids of statements begin: those below belong to statements from another installation. */
  refFloor: number;
}

export function emptyState(session: string, limits: SessionLimits = DEFAULT_LIMITS): SessionState {
  return {
    session,
    limits,
    dispatches: new DispatchWindow(dispatchFold(limits), emptyMemory()),
    charter: { status: 'open' },
    run: undefined,
    left: [],
    board: { tasks: new Map(), lastNumber: 0, deleted: new Map(), claims: new Map() },
    notebook: { inbox: new Map(), lastMessage: 0, lastNote: 0 },
    history: { iterations: [] },
    sequence: 0,
    lastEvent: 0,
    lastCommand: 0,
    lastEventAt: '',
    startedAt: '',
    checkpoint: 0,
    refFloor: 0,
  };
}

/** Returns the ledgers of a session by task, with the answers to their questions and without retracted facts. */
export function ledgersOf(state: SessionState): ReadonlyMap<string, TaskLedger> {
  const { ledgers } = state.dispatches.current();
  const retracted = factsOf(state).retracted();
  const answered = factsOf(state).answered();
  if (answered.size === 0 && retracted.size === 0) return ledgers;
  const seen = [...ledgers].map(([task, ledger]) => {
    const stated = withoutTexts(task, ledger, retracted.get(task));
    return [task, withAnswers(stated, answered.get(task) ?? [])] as const;
  });
  return new Map(seen);
}

export function answersOf(state: SessionState): Answer[] {
  return factsOf(state)
    .statements()
    .flatMap(({ answer }) => answer ?? []);
}

function withoutTexts(
  task: string,
  ledger: TaskLedger,
  retracted: ReadonlyMap<string, string | undefined> | undefined,
) {
  if (retracted === undefined) return ledger;
  const seen = (text = '', fact = text) => {
    const known = clipText(quoted(fact), KEPT.fact.object);
    return retracted.has(known) ? retracted.get(known) : text;
  };
  const all = (texts: readonly string[]) => texts.flatMap((text) => seen(text) ?? []);
  const { summary, firstSummary, issues, requiredFixes, blockers, work, tries, questions, ...others } =
    ledger;
  // After a fix round, one fact has both summaries.
  const both = summary && firstSummary && bothSummaries(firstSummary, quoted(summary));
  const isBoth = both !== undefined && seen(both) !== both;
  const [last, first] = isBoth ? [seen(both), undefined] : [seen(summary), seen(firstSummary)];
  const failed = work.failed.flatMap((run) => {
    const failures = run.failures.flatMap((failure) => seen(failure, failedIn(task, failure)) ?? []);
    const count = run.count - run.failures.length + failures.length;
    const isRetracted = run.count > 0 ? count === 0 : seen('x', failedIn(task)) === undefined;
    return isRetracted ? [] : { ...run, failures, count };
  });
  return {
    ...others,
    ...(questions && { questions: questions.filter(({ text }) => seen(text) === text) }),
    ...(last && { summary: last }),
    ...(first && { firstSummary: first }),
    issues: issues.flatMap(({ message, ...issue }) => {
      const text = seen(message);
      return text === undefined ? [] : { ...issue, message: text };
    }),
    requiredFixes: all(requiredFixes),
    blockers: all(blockers),
    work: { ...work, failed, followUps: all(work.followUps) },
    tries: tries.map(({ summary: tried, refused = [], verdict }) => {
      const [summary, left] = [seen(tried), all(refused)];
      return { verdict, ...(summary && { summary }), ...(left.length > 0 && { refused: left }) };
    }),
  };
}

/** Questions end as statements do: the ledger keeps their options, and shows those that are open. */
function withAnswers(ledger: TaskLedger, all: readonly QuestionAnswer[]): TaskLedger {
  const given = new Map(all.map((answer) => [keyOf(answer.question), answer]));
  const { questions = [], blockers } = ledger;
  const keys = [...new Set([...questions.map(({ text }) => text), ...blockers].map(keyOf))];
  const answers = keys.flatMap((key) => given.get(key) ?? []);
  if (answers.length === 0) return ledger;
  return {
    ...ledger,
    questions: questions.filter(({ text }) => !given.has(keyOf(text))),
    blockers: blockers.filter((text) => !given.has(keyOf(text))),
    answers,
  };
}

/** Returns the open questions of a task: those of its newest result, then those of earlier ones. */
export function asksOf(state: SessionState, task: string, ledger?: TaskLedger): Question[] {
  const { questions = [] } = ledger ?? {};
  const known = new Set(questions.map(({ text }) => keyOf(text)));
  const isNew = (text: string) => known.size < known.add(questionKey(text)).size;
  return [
    ...questions,
    ...factsOf(state)
      .asking(task)
      .filter(isNew)
      .map((text) => ({ text })),
  ];
}

type Question = NonNullable<TaskLedger['questions']>[number];

function keyOf(text: string): string {
  return questionKey(clipText(quoted(text), KEPT.fact.object));
}

/** Returns the state of the plan: tasks that an agent has claimed are not next. */
export function outlook(state: SessionState): PlanOutlook {
  const { run, board } = state;
  const isClaimed = (task: string) => claimOf(board, task).claimed_by !== undefined;
  return outlookOf(run?.document.tasks ?? [], ledgersOf(state), isClaimed);
}

/** Returns a version of the plan with the ids that its tasks have; `unnamed` are ids that the author has not written. */
export function planVersion(state: SessionState, document: TasksDocument, unnamed: ReadonlySet<string>) {
  const { run, left, board } = state;
  const known = new Set([
    ...ledgersOf(state).keys(),
    ...board.claims.keys(),
    ...rejectionsOf(state).flatMap(({ task }) => task ?? []),
    ...answersOf(state).map(({ task }) => task),
  ]);
  return withKeptIds(document, unnamed, run?.document ?? { tasks: [], left: [...left] }, (id) =>
    known.has(id),
  );
}

export function factsOf(state: SessionState): InMemorySessionFactStore {
  return state.dispatches.current().facts;
}

export function pastOf(state: SessionState): PastResults {
  return state.dispatches.current().past;
}

export function tracesOf(state: SessionState): Traces {
  return state.dispatches.current().traces;
}

export function rejectionsOf(state: SessionState): readonly KnownRejection[] {
  return state.dispatches.current().rejections;
}

function emptyMemory(): DispatchMemory {
  const none = [...ROLES, 'rejected'].map((what) => [what, 0]);
  return {
    facts: new InMemorySessionFactStore(),
    counts: Object.fromEntries(none),
    ledgers: new Map(),
    traces: emptyTraces(),
    results: new Set(),
    rejections: [],
    past: new PastResults(),
    boardResults: new Map(),
  };
}

export function dispatchFold(limits: SessionLimits): DispatchFold<DispatchEntry, DispatchMemory> {
  // Both sort the facts: compaction waits for a quarter more than the limit, eviction ends some more than it has to.
  const tolerated = limits.maxFacts + Math.floor(limits.maxFacts / 4);
  const afterEviction = limits.maxFacts - Math.floor(limits.maxFacts / 16);
  return {
    apply(folded, entry) {
      const key = entry.kind === 'recorded' ? entry.result : undefined;
      // The dispatch counts, but its result was counted before.
      if (key !== undefined && !countResult(folded.results, key)) return;
      addDispatch(folded.traces, entry);
      if (entry.kind === 'rejected') {
        folded.counts.rejected += 1;
        const { kind: _, at: __, ...rejected } = entry;
        addRejection(folded.rejections, rejected, folded.ledgers);
        return;
      }
      folded.counts[entry.role] += 1;
      const { sequence, at, task: taskId, digest } = entry;
      const ledger = foldLedger(folded.ledgers, entry);
      folded.facts.add(withFirstSummary(factsIn(entry), entry, ledger));
      if (digest.verdict === 'approved') folded.facts.endStuck(taskId, { sequence, at });
      for (const { id, ...ended } of entry.ends ?? []) folded.facts.end(id, { sequence, at, ended });
      folded.facts.evict(limits.maxFacts, { sequence, at }, afterEviction);
      if (folded.facts.size() > tolerated || folded.facts.bytes() > 1.25 * MAX_FACT_BYTES)
        folded.facts.compact(limits.maxFacts);
      addBoardResult(folded.boardResults, entry, digest);
      answerRejections(folded.rejections, ledger);
      const { renamed = [], deleted = [] } = digest;
      for (const path of [...renamed.map(({ from }) => from), ...deleted])
        folded.facts.invalidate(path, RELATIONS.changedBy, { sequence, at });
      folded.past.changeFiles(renamed, deleted);
      folded.past.add({ sequence, task: taskId, ...wordsAndFiles(digest) });
    },
    copy: ({ facts, counts, ledgers, traces, results, rejections, past, boardResults }) => ({
      facts: facts.copy(),
      counts: { ...counts },
      ledgers: new Map(ledgers),
      traces: { ...traces, intents: new Map(traces.intents), pending: [...traces.pending] },
      results: new Set(results),
      rejections: [...rejections],
      past: past.copy(),
      boardResults: new Map(boardResults),
    }),
    finish: ({ traces }) => addPending(traces),
    follows: ({ traces }, { at }) => at > traces.appendedUntil,
  };
}

type Recorded = Extract<DispatchEntry, { kind: 'recorded' }>;

/** The facts of a dispatch; cached, as each is folded into the settled part and into the readers' view. */
const factsIn = onceForEach(({ sequence, at, role, task: taskId, digest, facts, event }: Recorded) => {
  const history = digest.history && { history: digest.history };
  const origin = { sequence, at: digest.at ?? at, role, taskId, ...history };
  return facts.map((fact) => sessionFact(fact, origin, event));
});

const MAX_LEDGERS = 300;

function foldLedger(ledgers: Map<string, TaskLedger>, entry: Recorded): TaskLedger | undefined {
  const { task } = entry;
  const ledger = foldDispatch(ledgers.get(task), task, entry, entry.digest);
  if (ledger === undefined) return undefined;
  ledgers.delete(task);
  ledgers.set(task, ledger);
  dropOldest(ledgers, MAX_LEDGERS);
  return ledger;
}

/** Keeps the summary of the first try in that of a fix round, which would otherwise replace it for all other tasks. */
function withFirstSummary(
  facts: readonly SessionFact[],
  { sequence, role, task }: Recorded,
  ledger: TaskLedger | undefined,
): readonly SessionFact[] {
  const { firstSummary: first, last, tries = [] } = ledger ?? {};
  const isFix = kindOf(role).part === 'work' && tries.length > 1 && last?.sequence === sequence;
  if (!isFix || first === undefined) return facts;
  return facts.map((fact) => {
    const isSummary = fact.relation === kindOf(role).relations.summary && fact.subject === `task:${task}`;
    if (!isSummary || first === fact.object) return fact;
    const object = bothSummaries(first, fact.object);
    return { ...fact, object, id: factId({ ...fact, object }) };
  });
}

function bothSummaries(first: string, last: string): string {
  return clipText(`${first}${/[.!?]$/.test(first) ? '' : '.'} Then: ${last}`, KEPT.fact.object);
}

/** Limit of distinct words per result: a summary has ten, a review some more. */
const MAX_TOKENS = 48;

/** Returns the text of a result, and the files that it touched or demands changes in; cached, as digests never change. */
const wordsAndFiles = onceForEach(({ summary = '', files, issues, fixes }: OutcomeDigest) => {
  const named = [...files, ...issues.flatMap(({ file }) => file ?? [])].map(knownAs);
  const texts = [summary, ...issues.map(({ message }) => message), ...fixes];
  return {
    tokens: tokens(texts.filter((text) => text !== '').join('\n'), MAX_TOKENS),
    files: [...new Set(named)].filter((file) => file !== '' && !file.endsWith('...')),
  };
});

/** Returns the state as people, agents and commands see it: its board follows results. */
export function seenState(state: SessionState): SessionState {
  const { boardResults } = state.dispatches.current();
  if (boardResults.size === 0) return state;
  return { ...state, board: movedBoard(state.board, boardResults) };
}

/** Bytes of memory, measured by folding synthetic sessions of 1 to 200 dispatches and up to 500 tasks. */
const BYTES = {
  state: 20_000,
  /** In the store, in its word index, and in the window. */
  fact: 900,
  ledger: 1500,
  /** A task, note, message, iteration, rejection or appended entry: a few hundred characters each. */
  item: 800,
  /** A past result with its words, and a file with the words of its path. */
  past: 500,
  file: 1000,
  /** Lists are bounded, and rarely full. */
  trace: 10_000,
  result: 90,
  counted: 8,
};

export function stateBytes({ dispatches, board, notebook, history, run }: SessionState): number {
  const { facts, ledgers, traces, results, rejections, past, boardResults } = dispatches.settled();
  const recent = dispatches.recent();
  const items = [board.tasks, notebook.inbox, boardResults].reduce((sum, { size }) => sum + size, 0);
  const lists = [history.iterations, run?.document.tasks ?? [], rejections, traces.pending];
  const recentFacts = recent.flatMap((entry) => (entry.kind === 'recorded' ? entry.facts : []));
  return (
    BYTES.state +
    BYTES.fact * (facts.size() + facts.statementCount() + recentFacts.length) +
    BYTES.ledger * (ledgers.size + recent.length) +
    BYTES.item * lists.reduce((sum, { length }) => sum + length, items) +
    BYTES.past * past.rows.length +
    BYTES.file * past.fileCount +
    BYTES.trace * traces.intents.size +
    BYTES.result * results.size +
    BYTES.counted * dispatches.counted().size
  );
}

import { ROLES, type Role } from '../../contracts/kinds.js';
import type { RecordedEntry } from '../../contracts/trace-entry.js';
import type { OutcomeDigest } from '../../ledger/outcome-digest.js';
import { type StallThresholds, stallThresholds } from '../../ledger/stall.js';
import { foldDispatch, type QuestionAnswer, questionKey, type TaskLedger } from '../../ledger/task-ledger.js';
import { sessionFact } from '../facts/fact-extractor.js';
import { InMemorySessionFactStore, MAX_FACT_BYTES } from '../facts/fact-store.js';
import type { RecordedFact, SessionFact } from '../facts/fact-types.js';
import { type PastResult, PastResults } from '../search/past-results.js';
import { tokens } from '../search/tokens.js';
import { knownAs } from '../search/touched-files.js';
import { type CompactionRhythm, DEFAULT_RHYTHM } from '../traces/intent-trace.js';
import { addDispatch, addPending, copyOfTraces, emptyTraces, type Traces } from '../traces/session-traces.js';
import { addBoardResult, type BoardResult, movedBoard } from './board-results.js';
import { type Charter, emptyCharter, resolvedSettings } from './charter.js';
import { countResult } from './counted-dispatches.js';
import { type DispatchFold, DispatchWindow } from './dispatch-window.js';
import { emptyHistory, type IterationHistory } from './iterations.js';
import {
  addRejection,
  answerRejections,
  type KnownRejection,
  type NewestRead,
  type NewestReads,
  newestReads,
  type Rejected,
} from './known-rejections.js';
import { type Answer, emptyNotebook, type Notebook } from './notebook.js';
import type { Run } from './session-run.js';
import { emptyBoard, type TaskBoard } from './task-board.js';

/** Limits that shape the fold; a snapshot made under other limits is not used. */
export interface SessionLimits {
  /** Facts kept for a session, closed ones included. */
  readonly maxFacts: number;
  /** Counts at which a task is taken to be stalled. */
  readonly stall: StallThresholds;
  /** When trace entries are compacted. */
  readonly compaction: CompactionRhythm;
}

export const DEFAULT_LIMITS: SessionLimits = {
  maxFacts: 2000,
  stall: stallThresholds(),
  compaction: DEFAULT_RHYTHM,
};

/** A dispatch as the fold keeps it while it may still be overtaken. */
export type DispatchEntry =
  | {
      readonly kind: 'recorded';
      readonly sequence: number;
      readonly at: string;
      /** Sequence of the session event that brought it. */
      readonly event: number;
      readonly role: Role;
      readonly task: string;
      readonly facts: readonly RecordedFact[];
      readonly digest: OutcomeDigest;
      /** Key of the result, by which it is known when it is published again. */
      readonly result?: string;
      /** What it is in the trace of the intent that it names. */
      readonly trace?: RecordedEntry;
    }
  | ({ readonly kind: 'rejected'; readonly at: string } & Rejected);

/** Counts since the session began. */
export type DispatchCounts = Record<Role | 'rejected', number>;

export function noDispatches(): DispatchCounts {
  const none = [...ROLES, 'rejected'].map((what) => [what, 0]);
  return Object.fromEntries(none);
}

/** What dispatches, in their order, add up to. */
interface DispatchMemory {
  readonly facts: InMemorySessionFactStore;
  readonly counts: DispatchCounts;
  /** By task, the one whose dispatch came last at the end. */
  readonly ledgers: Map<string, TaskLedger>;
  readonly traces: Traces;
  /** Keys of the newest results that have counted. */
  readonly results: Set<string>;
  /** The newest rejections, in the order of their dispatches. */
  readonly rejections: KnownRejection[];
  /** The newest readable result of each task and role. */
  readonly reads: NewestReads;
  /** What results said and which files they touched, longer than there are facts of them. */
  readonly past: PastResults;
  /** By board task, the one that was heard of last at the end. */
  readonly boardResults: Map<string, BoardResult>;
}

/** Everything that a session's events add up to. `evolve` owns and changes it; everybody else only reads. */
export interface SessionState {
  readonly session: string;
  readonly limits: SessionLimits;
  readonly dispatches: DispatchWindow<DispatchEntry, DispatchMemory>;
  readonly charter: Charter;
  run: Run | undefined;
  /** What commands made of it: `seenState` lets the results move it. */
  readonly board: TaskBoard;
  readonly notebook: Notebook;
  readonly history: IterationHistory;
  /** Sequence up to which the session's log has been folded; 0 before the first event. */
  sequence: number;
  /** Sequence of the newest event that counted; 0 before the first. Other messages may follow it. */
  lastEvent: number;
  /** Sequence of the newest command that counted; 0 before the first. */
  lastCommand: number;
  /** Time of the newest event, ISO 8601; empty before the first. Ages in prompts are counted from it. */
  lastEventAt: string;
  /** Time of the oldest event, ISO 8601; empty before the first. */
  startedAt: string;
  /** Sequence of the newest checkpoint, at which everything before it stands; 0 for none. */
  checkpoint: number;
}

/** The state of a session without events. */
export function emptyState(session: string, limits: SessionLimits = DEFAULT_LIMITS): SessionState {
  return {
    session,
    limits,
    dispatches: new DispatchWindow(
      dispatchFold(limits),
      dispatchMemory([], noDispatches(), [], emptyTraces(), [], [], [], new PastResults(), []),
    ),
    charter: emptyCharter(),
    run: undefined,
    board: emptyBoard(),
    notebook: emptyNotebook(),
    history: emptyHistory(),
    sequence: 0,
    lastEvent: 0,
    lastCommand: 0,
    lastEventAt: '',
    startedAt: '',
    checkpoint: 0,
  };
}

/** A copy on which commands may be folded; what dispatches add up to is that of the state. */
export function forkedState(state: SessionState): SessionState {
  const { charter, board, notebook, history } = state;
  return {
    ...state,
    charter: { ...charter },
    board: { ...board, tasks: new Map(board.tasks) },
    notebook: {
      ...notebook,
      notes: new Map(notebook.notes),
      inbox: new Map(notebook.inbox),
      answers: [...notebook.answers],
    },
    history: { iterations: [...history.iterations] },
  };
}

/** The ledgers of a session by task, with the answers to what their newest results asked. */
export function ledgersOf({ dispatches, notebook }: SessionState): ReadonlyMap<string, TaskLedger> {
  const { ledgers } = dispatches.current();
  if (notebook.answers.length === 0) return ledgers;
  return new Map([...ledgers].map(([task, ledger]) => [task, withAnswers(ledger, notebook.answers)]));
}

function withAnswers(ledger: TaskLedger, all: readonly Answer[]): TaskLedger {
  const given = new Map<string, QuestionAnswer>();
  for (const { task, questions, answer, by } of all) {
    if (task !== ledger.task) continue;
    for (const question of questions) given.set(questionKey(question), { question, answer, by });
  }
  const { questions = [], blockers } = ledger;
  const asked = [...new Set([...questions.map(({ text }) => text), ...blockers].map(questionKey))];
  const answers = asked.flatMap((question) => given.get(question) ?? []);
  if (answers.length === 0) return ledger;
  return {
    ...ledger,
    questions: questions.filter(({ text }) => !given.has(questionKey(text))),
    blockers: blockers.filter((text) => !given.has(questionKey(text))),
    answers,
  };
}

/** The facts of a session, all dispatches folded. */
export function factsOf(state: SessionState): InMemorySessionFactStore {
  return state.dispatches.current().facts;
}

/** The past results of a session, all dispatches folded. */
export function pastOf(state: SessionState): PastResults {
  return state.dispatches.current().past;
}

/** The traces of a session: entries that were appended and all dispatches, in their order. */
export function tracesOf(state: SessionState): Traces {
  return state.dispatches.current().traces;
}

/** The newest rejections of a session, in the order of their dispatches. */
export function rejectionsOf(state: SessionState): readonly KnownRejection[] {
  return state.dispatches.current().rejections;
}

/** What dispatches add up to, from the facts and counts of a snapshot. */
export function dispatchMemory(
  facts: Iterable<SessionFact>,
  counts: DispatchCounts,
  ledgers: Iterable<TaskLedger>,
  traces: Traces,
  results: Iterable<string>,
  rejections: Iterable<KnownRejection>,
  reads: Iterable<NewestRead>,
  past: PastResults,
  boardResults: Iterable<BoardResult>,
): DispatchMemory {
  return {
    facts: InMemorySessionFactStore.of(facts),
    counts: { ...counts },
    ledgers: new Map([...ledgers].map((ledger) => [ledger.task, ledger])),
    traces,
    results: new Set(results),
    rejections: [...rejections],
    reads: newestReads(reads),
    past,
    boardResults: new Map([...boardResults].map((result) => [result.task, result])),
  };
}

/** How dispatches are folded under these limits. */
export function dispatchFold(limits: SessionLimits): DispatchFold<DispatchEntry, DispatchMemory> {
  // Compacting sorts the facts, so it waits until a quarter more than the limit has come together.
  const tolerated = limits.maxFacts + Math.floor(limits.maxFacts / 4);
  return {
    apply(folded, entry) {
      // The dispatch counts, and its result has counted already.
      if (
        entry.kind === 'recorded' &&
        entry.result !== undefined &&
        !countResult(folded.results, entry.result)
      )
        return;
      addDispatch(folded.traces, entry, limits.compaction);
      if (entry.kind === 'rejected') {
        folded.counts.rejected += 1;
        const { kind: _, at: __, ...rejected } = entry;
        addRejection(folded.rejections, rejected, folded.reads);
        return;
      }
      folded.counts[entry.role] += 1;
      const { sequence, at, role, task: taskId, digest } = entry;
      const origin = { sequence, at, role, taskId, ...(digest.history && { history: digest.history }) };
      folded.facts.add(entry.facts.map((fact) => sessionFact(fact, origin, entry.event)));
      if (folded.facts.size() > tolerated || folded.facts.bytes() > 1.25 * MAX_FACT_BYTES)
        folded.facts.compact(limits.maxFacts);
      foldLedger(folded.ledgers, entry, limits.stall);
      addBoardResult(folded.boardResults, entry, digest);
      answerRejections(folded.rejections, folded.reads, entry);
      folded.past.add(pastResultOf(entry, entry.digest));
    },
    copy: ({ facts, counts, ledgers, traces, results, rejections, reads, past, boardResults }) =>
      dispatchMemory(
        facts.all(),
        counts,
        ledgers.values(),
        copyOfTraces(traces),
        results,
        rejections,
        reads.values(),
        past.copy(),
        boardResults.values(),
      ),
    finish: ({ traces }) => addPending(traces, limits.compaction),
    follows: ({ traces }, { at }) => at > traces.appendedUntil,
  };
}

/** Ledgers kept; beyond that those of tasks that nothing has been heard of for longest are forgotten. */
const MAX_LEDGERS = 300;

function foldLedger(
  ledgers: Map<string, TaskLedger>,
  entry: Extract<DispatchEntry, { kind: 'recorded' }>,
  thresholds: StallThresholds,
): void {
  const { task } = entry;
  const ledger = foldDispatch(ledgers.get(task), task, entry, entry.digest, thresholds);
  if (ledger === undefined) return;
  ledgers.delete(task);
  ledgers.set(task, ledger);
  const oldest = ledgers.keys().next();
  if (ledgers.size > MAX_LEDGERS && !oldest.done) ledgers.delete(oldest.value);
}

/** Distinct words of a result that are remembered: a summary has ten, a review some more. */
const MAX_TOKENS = 48;

/** A digest never changes, and is folded again whenever an older dispatch comes late: its words are found once. */
const found = new WeakMap<OutcomeDigest, Pick<PastResult, 'tokens' | 'files'>>();

/** What is remembered of a result beyond its facts: what it says, and the files that it touched or that it demands changes in. */
function pastResultOf(
  { sequence, task }: Pick<PastResult, 'sequence' | 'task'>,
  digest: OutcomeDigest,
): PastResult {
  const known = found.get(digest) ?? wordsAndFiles(digest);
  found.set(digest, known);
  return { sequence, task, ...known };
}

function wordsAndFiles({
  summary = '',
  files,
  issues,
  fixes,
}: OutcomeDigest): Pick<PastResult, 'tokens' | 'files'> {
  const named = [...files, ...issues.flatMap(({ file }) => file ?? [])].map(knownAs);
  const texts = [summary, ...issues.map(({ message }) => message), ...fixes];
  return {
    tokens: tokens(texts.filter((text) => text !== '').join('\n'), MAX_TOKENS),
    files: [...new Set(named)].filter((file) => file !== '' && !file.endsWith('...')),
  };
}

/** The state as people, agents and commands see it: its board follows the results, unless the session says otherwise. */
export function seenState(state: SessionState): SessionState {
  const { boardResults } = state.dispatches.current();
  const { boardFollowsResults } = resolvedSettings(state.charter.settings);
  if (boardResults.size === 0 || !boardFollowsResults) return state;
  return { ...state, board: movedBoard(state.board, boardResults) };
}

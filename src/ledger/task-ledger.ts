import { KEPT } from '../contracts/kept.js';
import { kindOf, type NextAction, type Role, type Verdict } from '../contracts/kinds.js';
import type { Question } from '../contracts/results.js';
import { oneSpelling } from '../shared/text.js';
import type { DigestIssue, OutcomeDigest } from './outcome-digest.js';
import {
  countStall,
  NO_STALL,
  type RaisedSignal,
  raisedSignals,
  type StallCounters,
  type StallThresholds,
} from './stall.js';

/**
 * The ledger of one task: the outcomes of its dispatches. Immutable and bounded; folded in the order of the dispatches.
 */
export interface TaskLedger {
  readonly task: string;
  /** 1 at first; one more each time the task is found to be stalled and must be planned again. */
  readonly planVersion: number;
  readonly dispatches: number;
  /** Reviews that asked for changes. */
  readonly approvalLoops: number;
  readonly summary?: string;
  /** Of the first try since the last approval that had one. */
  readonly firstSummary?: string;
  readonly assessment?: Verdict;
  readonly issues: readonly DigestIssue[];
  readonly requiredFixes: readonly string[];
  readonly blockers: readonly string[];
  /** Open questions of its newest results, to a person. */
  readonly questions?: readonly Question[];
  /** Answers to what its newest results asked. Only `ledgersOf` fills it: results and answers are folded apart. */
  readonly answers?: readonly QuestionAnswer[];
  /**
   * What was done, beside the summary: the tests of the newest work result, and the files and follow-ups of all since the
   * last approval, the newest first.
   */
  readonly work: Work;
  /** The newest tries since the last approval, the oldest first: at most three. */
  readonly tries: readonly Try[];
  readonly last: LastOutcome;
  readonly stall: StallCounters;
  /** Whether the flag was up after the newest dispatch: so a raised flag is counted once. */
  readonly stalled: boolean;
}

/** An answer beside its question. */
export interface QuestionAnswer {
  readonly question: string;
  readonly answer: string;
  readonly by: string;
}

/** Questions that differ only in spacing, capitals or their question mark are the same. */
export function questionKey(question: string): string {
  return oneSpelling(question.trimEnd().replace(/[?？]$/u, ''));
}

export type Work = Pick<OutcomeDigest, 'files' | 'passed' | 'failed' | 'followUps'>;

/** A result that was to be the work of the task, in few words. */
export interface Try {
  readonly verdict: Verdict;
  readonly summary?: string;
}

const MAX_TRIES = 3;

/** The newest dispatch of the task, and its outcome. */
export interface LastOutcome {
  readonly sequence: number;
  readonly at: string;
  readonly role: Role;
  readonly verdict: Verdict;
}

/** An outcome in one word: `implementer_completed`. */
export type OutcomeName = `${Role}_${Verdict}`;

/** The next action; after an approval it depends on whether anything is left to do. */
export function nextAction(
  { last: { role, verdict }, ...asked }: Pick<TaskLedger, 'last' | 'questions' | 'answers'>,
  tasksLeft: boolean,
): NextAction {
  const { next, part } = kindOf(role);
  if (verdict === 'blocked' && isAsking(asked)) return 'wait_for_answer';
  if (verdict === 'blocked' && isAnswered(asked)) return part === 'review' ? 'dispatch_reviewer' : 'retry';
  return verdict === 'approved' && !tasksLeft ? 'spec_completed' : (next[verdict] ?? 'retry');
}

type Asked = Pick<TaskLedger, 'questions' | 'answers'>;

/** True while a question of the task has no answer. */
export function isAsking({ questions = [] }: Asked): boolean {
  return questions.length > 0;
}

/** True if everything that the newest result asked has an answer. */
export function isAnswered({ questions = [], answers = [] }: Asked): boolean {
  return questions.length === 0 && answers.length > 0;
}

/** The newest outcome in one word: `implementer_completed`. */
export function outcomeName({ role, verdict }: LastOutcome): OutcomeName {
  return `${role}_${verdict}`;
}

/**
 * The ledger after one more dispatch. One that is older than the newest was overtaken by more dispatches than the fold
 * can put in order: it is counted, and what is newer stands. A dispatch without a verdict leaves the ledger as it is, and
 * so does one from before the session.
 */
export function foldDispatch(
  ledger: TaskLedger | undefined,
  task: string,
  dispatch: { readonly sequence: number; readonly at: string },
  digest: OutcomeDigest,
  thresholds: StallThresholds,
): TaskLedger | undefined {
  const { role, verdict, history } = digest;
  const { part } = kindOf(role);
  if (part === 'note' || verdict === undefined || history === true) return ledger;
  const before = ledger ?? emptyLedger(task);
  const dispatches = before.dispatches + 1;
  const sentBack = verdict === 'needs_changes';
  const approvalLoops = before.approvalLoops + (sentBack ? 1 : 0);
  if (ledger !== undefined && dispatch.sequence < ledger.last.sequence)
    return { ...ledger, dispatches, approvalLoops };
  const last = { sequence: dispatch.sequence, at: dispatch.at, role, verdict };
  const said = part === 'work' ? worked(before, verdict, digest) : reviewed(before, verdict, digest);
  // A result that asked a question is not a failure in a row: the next one has an answer to work with.
  const counted = isAsking(before) ? { ...before.stall, nonProgress: 0 } : before.stall;
  const stall = countStall(counted, digest);
  const stalled = signalsOf({ ...said, stall, last }, thresholds).length > 0;
  const { summary, firstSummary, assessment, questions = [] } = said;
  // Spelled out, so that equal ledgers have their keys in the same order.
  return {
    task,
    planVersion: stalled && !before.stalled ? before.planVersion + 1 : before.planVersion,
    dispatches,
    approvalLoops,
    issues: said.issues,
    requiredFixes: said.requiredFixes,
    blockers: said.blockers,
    ...(questions.length > 0 && { questions }),
    work: said.work,
    tries: said.tries,
    last,
    stall,
    stalled,
    ...(summary !== undefined && { summary }),
    ...(firstSummary !== undefined && { firstSummary }),
    ...(assessment !== undefined && { assessment }),
  };
}

/** Stall signals over their thresholds; none while the newest result asks a person, or has its answer. */
export function signalsOf(
  {
    stall,
    requiredFixes,
    issues,
    blockers,
    summary,
    last,
    ...asked
  }: Pick<TaskLedger, 'stall' | 'requiredFixes' | 'issues' | 'blockers' | 'summary' | 'last'> & Asked,
  thresholds: StallThresholds,
): RaisedSignal[] {
  if (last.verdict === 'blocked' && (isAsking(asked) || isAnswered(asked))) return [];
  const demanded = requiredFixes.length > 0 ? requiredFixes : issues.map(({ message }) => message);
  const halted = isHalted(last) ? demanded[0] : undefined;
  return raisedSignals(stall, thresholds, demanded, halted ?? blockers[0] ?? summary ?? '');
}

/** What a task's dispatches said last. */
type Said = Pick<
  TaskLedger,
  | 'issues'
  | 'requiredFixes'
  | 'blockers'
  | 'questions'
  | 'work'
  | 'tries'
  | 'summary'
  | 'firstSummary'
  | 'assessment'
>;

function emptyLedger(task: string): Omit<TaskLedger, 'last'> {
  return {
    task,
    planVersion: 1,
    dispatches: 0,
    approvalLoops: 0,
    issues: [],
    requiredFixes: [],
    blockers: [],
    work: { files: [], passed: [], failed: [], followUps: [] },
    tries: [],
    stall: NO_STALL,
    stalled: false,
  };
}

/** Whether a review found that a person must decide. */
function isHalted({ role, verdict }: LastOutcome): boolean {
  return kindOf(role).part === 'review' && verdict === 'blocked';
}

/** Each result replaces the blockers and the tests; what a review asked for stays until the next review. */
function worked(
  { summary: _, firstSummary, ...before }: Said,
  verdict: Verdict,
  { summary, blockers, questions = [], files, passed, failed, followUps }: OutcomeDigest,
): Said {
  const isFirst = before.tries.length === 0;
  const earlier = isFirst ? undefined : before.work;
  const first = (isFirst ? undefined : firstSummary) ?? summary;
  const said = summary === undefined ? {} : { summary };
  return {
    ...before,
    ...said,
    ...(first !== undefined && { firstSummary: first }),
    blockers,
    questions,
    tries: [...before.tries, { verdict, ...said }].slice(-MAX_TRIES),
    work: {
      files: joined(files, earlier?.files, KEPT.digest.files),
      passed,
      failed,
      followUps: joined(followUps, earlier?.followUps, KEPT.digest.list),
    },
  };
}

/** Each text once, those of the newest result first; beyond the limit the oldest are forgotten. */
function joined(newest: readonly string[], earlier: readonly string[] = [], most: number): string[] {
  return [...new Set([...newest, ...earlier])].slice(0, most);
}

/** An approval settles everything but what was done. */
function reviewed(before: Said, assessment: Verdict, { issues, fixes, questions = [] }: OutcomeDigest): Said {
  if (assessment === 'approved')
    return { ...before, assessment, issues: [], requiredFixes: [], blockers: [], questions: [], tries: [] };
  const open = [...questions, ...(before.questions ?? [])];
  return {
    ...before,
    assessment,
    issues,
    requiredFixes: fixes,
    questions: open.slice(0, KEPT.question.list),
  };
}

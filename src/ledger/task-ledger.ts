import { z } from 'zod';
import { KEPT } from '../contracts/kept-limits.js';
import { kindOf, type NextAction, ROLES, type Role, VERDICTS, type Verdict } from '../contracts/kinds.js';
import type { Output } from '../contracts/schema-fields.js';
import { defined, ordered } from '../shared/collections.js';
import { oneSpelling } from '../shared/text.js';
import { digestIssue, failedTests, type OutcomeDigest, openQuestions } from './outcome-digest.js';
import { countStall, NO_STALL, type RaisedSignal, raisedSignals, stallCounters } from './stall.js';

const texts = z.array(z.string());

/** The outcomes of a task's dispatches, folded in their order. Immutable and bounded. */
export const taskLedger = z
  .object({
    task: z.string(),
    /** Starts at 1 and increases each time the task becomes stalled and must be planned again. */
    planVersion: z.number(),
    dispatches: z.number(),
    approvalLoops: z.number(),
    issues: z.array(digestIssue),
    requiredFixes: texts,
    blockers: texts,
    questions: openQuestions,
    /** What passed in the newest work result; failed tests, files and follow-ups since the last approval, the newest first. */
    work: z.object({ files: texts, passed: texts, failed: failedTests, followUps: texts }),
    /** The newest work results since the last approval, the oldest first, at most five. */
    tries: z.array(
      z.object({
        verdict: z.enum(VERDICTS),
        summary: z.string().exactOptional(),
        /** The required fixes of its review, else the issues. */
        refused: texts.exactOptional(),
      }),
    ),
    last: z.object({
      sequence: z.number(),
      at: z.string(),
      role: z.enum(ROLES),
      verdict: z.enum(VERDICTS),
    }),
    stall: stallCounters,
    /** True if stalled after the newest dispatch, so that each stall counts once. */
    stalled: z.boolean(),
    summary: z.string().exactOptional(),
    /** From the first try with a summary since the last approval. */
    firstSummary: z.string().exactOptional(),
    assessment: z.enum(VERDICTS).exactOptional(),
  })
  .meta({ id: 'TaskLedger', description: 'What a task has come to.' });

export interface TaskLedger extends Output<typeof taskLedger> {
  /** Answers to the newest results. Only `ledgersOf` sets it, because results and answers are folded apart. */
  readonly answers?: readonly QuestionAnswer[];
}
export type Try = TaskLedger['tries'][number];
export type LastOutcome = TaskLedger['last'];

export interface QuestionAnswer {
  readonly question: string;
  readonly answer: string;
  readonly by: string;
}

/** Questions that differ only in spacing, capitals or their question mark are the same. */
export function questionKey(question: string): string {
  return oneSpelling(question.trimEnd().replace(/[?？]$/u, ''));
}

const MAX_TRIES = 5;
const MAX_REFUSED = 5;

export type OutcomeName = `${Role}_${Verdict}`;

export function nextAction(
  { last: { role, verdict }, ...dialogue }: Pick<TaskLedger, 'last' | 'questions' | 'answers'>,
  tasksLeft: boolean,
): NextAction {
  const { next, part } = kindOf(role);
  if (verdict === 'blocked' && isAsking(dialogue)) return 'wait_for_answer';
  if (verdict === 'blocked' && isAnswered(dialogue)) return part === 'review' ? 'dispatch_reviewer' : 'retry';
  return verdict === 'approved' && !tasksLeft ? 'spec_completed' : (next[verdict] ?? 'retry');
}

type QuestionsAndAnswers = Pick<TaskLedger, 'questions' | 'answers'>;

export function isAsking({ questions = [] }: QuestionsAndAnswers): boolean {
  return questions.length > 0;
}

export function plainBlockers({ questions = [], blockers }: TaskLedger): string[] {
  const questionKeys = new Set(questions.map(({ text }) => questionKey(text)));
  return blockers.filter((blocker) => !questionKeys.has(questionKey(blocker)));
}

/** True if everything that the newest result asked has an answer. */
export function isAnswered({ questions = [], answers = [] }: QuestionsAndAnswers): boolean {
  return questions.length === 0 && answers.length > 0;
}

export function outcomeName({ role, verdict }: LastOutcome): OutcomeName {
  return `${role}_${verdict}`;
}

/**
 * Folds a dispatch into a ledger. A dispatch older than the newest one came too late for the fold's reordering: it is
 * only counted. Dispatches without a verdict, or from before the session, change nothing.
 */
export function foldDispatch(
  ledger: TaskLedger | undefined,
  task: string,
  dispatch: { readonly sequence: number; readonly at: string },
  digest: OutcomeDigest,
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
  const updated = part === 'work' ? worked(before, verdict, digest) : reviewed(before, verdict, digest);
  // A result that asked a question is not a failure in a row: the next one has an answer to work with.
  const counted = isAsking(before) ? { ...before.stall, nonProgress: 0 } : before.stall;
  const stall = countStall(counted, digest);
  const stalled = signalsOf({ ...updated, stall, last }).length > 0;
  const planVersion = before.planVersion + (stalled && !before.stalled ? 1 : 0);
  const { questions = [], ...others } = updated;
  const open = questions.length > 0 ? { questions } : {};
  const after = { ...others, ...open, task, planVersion, dispatches, approvalLoops, last, stall, stalled };
  return ordered(after, taskLedger);
}

/** Returns the raised signals; none while the newest result waits for an answer, or has one. */
export function signalsOf({
  stall,
  last,
  ...stated
}: Body & QuestionsAndAnswers & Pick<TaskLedger, 'stall' | 'last'>): RaisedSignal[] {
  const { requiredFixes, issues, blockers, summary } = stated;
  if (last.verdict === 'blocked' && (isAsking(stated) || isAnswered(stated))) return [];
  const demanded = requiredFixes.length > 0 ? requiredFixes : issues.map(({ message }) => message);
  const isHalted = kindOf(last.role).part === 'review' && last.verdict === 'blocked';
  const halted = isHalted ? demanded[0] : undefined;
  return raisedSignals(stall, demanded, halted ?? blockers[0] ?? summary ?? '');
}

type Demands = 'issues' | 'requiredFixes' | 'blockers' | 'questions';
type Body = Pick<TaskLedger, Demands | 'work' | 'tries' | 'summary' | 'firstSummary' | 'assessment'>;

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

/** True if a review sent the newest work back: what that work claims does not count. */
export function isSentBack(ledger: Pick<TaskLedger, 'last'> | undefined): boolean {
  return ledger?.last.verdict === 'needs_changes';
}

/** Replaces blockers and passes. Failures stay until they pass, demands until the next review, a summary until the next one. */
function worked(
  { summary: summaryBefore, firstSummary, ...before }: Body,
  verdict: Verdict,
  { summary, blockers, questions = [], passed, failed, followUps, ...changed }: OutcomeDigest,
): Body {
  const isFirst = before.tries.length === 0;
  const earlier = isFirst ? undefined : before.work;
  const first = (isFirst ? undefined : firstSummary) ?? summary;
  const runs = [...passed, ...failed.map(({ command }) => command)];
  const stillFailed = (earlier?.failed ?? []).filter(({ command }) => !runs.includes(command));
  return {
    ...before,
    ...defined({ summary: summary ?? (isFirst ? undefined : summaryBefore), firstSummary: first }),
    blockers,
    questions,
    tries: [...before.tries, defined({ verdict, summary })].slice(-MAX_TRIES),
    work: {
      files: filesNow(changed, earlier?.files),
      passed,
      failed: [...failed, ...stillFailed].slice(0, KEPT.digest.list),
      followUps: joined(followUps, earlier?.followUps, KEPT.digest.list),
    },
  };
}

function filesNow(
  { files, renamed = [], deleted = [] }: Pick<OutcomeDigest, 'files' | 'renamed' | 'deleted'>,
  earlier: readonly string[] = [],
): string[] {
  const names = new Map(renamed.map(({ from, to }) => [from, to]));
  const now = earlier.map((file) => names.get(file) ?? file).filter((file) => !deleted.includes(file));
  return joined(files, now, KEPT.digest.files);
}

/** Deduplicates, the newest result first; drops the oldest beyond the limit. */
function joined(newest: readonly string[], earlier: readonly string[] = [], most: number): string[] {
  return [...new Set([...newest, ...earlier])].slice(0, most);
}

function reviewed(before: Body, assessment: Verdict, { issues, fixes, questions = [] }: OutcomeDigest): Body {
  if (assessment === 'approved')
    return { ...before, assessment, issues: [], requiredFixes: [], blockers: [], questions: [], tries: [] };
  const open = [...questions, ...(before.questions ?? [])];
  const demanded = fixes.length > 0 ? fixes : issues.map(({ message }) => message);
  const last = before.tries.at(-1);
  const refused = [...(last?.refused ?? []), ...demanded].slice(-MAX_REFUSED);
  const isTried = last !== undefined && refused.length > 0;
  return {
    ...before,
    assessment,
    ...(isTried && { tries: before.tries.with(-1, { ...last, refused: [...new Set(refused)] }) }),
    issues,
    requiredFixes: fixes,
    questions: open.slice(0, KEPT.question.list),
  };
}

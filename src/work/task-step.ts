import type { RunStatusReply } from '../contracts/plan-requests.js';
import { type OutcomeName, questionKey } from '../ledger/task-ledger.js';
import { counted, quoted, shellWord } from '../shared/text.js';
import { stallText } from '../shared/wire-words.js';

/**
 * The state machine of a task: implement → judge → (sent back: implement again) → approved. The step follows only from the
 * session, so an interrupted run finds the same step again. A stalled task is replanned once, with a replan section in its next
 * prompt. If that does not help, a person must decide. A task that asks a person waits for the answer, then takes the step again.
 */

export interface WorkTask {
  readonly id: string;
  readonly text: string;
  readonly from: 'plan' | 'board';
  /** True if its line is ticked, or its last result is an approval. */
  readonly isDone: boolean;
  /** True if it is approved, and its line in the plan is open. */
  readonly isUnticked: boolean;
  readonly isOptional: boolean;
  /** Why it cannot begin, independent of its results: its line is blocked, another agent has claimed it. */
  readonly hold?: string;
  /** Unfinished tasks that must be done first. */
  readonly waitsFor: readonly string[];
  readonly results: number;
  readonly last?: OutcomeName;
  readonly questions: NonNullable<RunStatusReply['tasks'][number]['questions']>;
  /** `open`: the last result waits for an answer; `answered`: it has one. */
  readonly question?: 'open' | 'answered';
  /** Implementer results since the last approval, without those that asked a person. */
  readonly rounds: number;
  readonly stall: Stall;
  readonly stalledBy?: string;
}

/** `replan`: a stall signal has reached its threshold. `beyond`: it has exceeded it. */
export type Stall = 'none' | 'replan' | 'beyond';

export type Step =
  | { readonly kind: 'implement'; readonly round: number; readonly replans: boolean }
  | { readonly kind: 'judge'; readonly round: number }
  /** Its question has no answer yet. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'needed'; readonly why: string }
  | { readonly kind: 'limit'; readonly why: string };

/** Returns the next step of an unfinished task; `again` allows one more in spite of limits and stalls. */
export function nextStep(
  { last, question, rounds, stall, stalledBy }: WorkTask,
  maxRounds: number,
  again: boolean,
): Step {
  if (question === 'open') return { kind: 'wait' };
  if (last === 'implementer_completed') return { kind: 'judge', round: rounds };
  if (stall === 'beyond' && !again)
    return { kind: 'needed', why: `stalled again after a replan: ${stallText(stalledBy ?? 'no progress')}` };
  if (last === 'reviewer_blocked') {
    return again || question === 'answered'
      ? { kind: 'judge', round: rounds }
      : { kind: 'needed', why: 'the reviewer asks for a decision of a person' };
  }
  if (rounds >= maxRounds && !again)
    return { kind: 'limit', why: `not approved after ${counted(rounds, 'round')} (limit ${maxRounds})` };
  return { kind: 'implement', round: rounds + 1, replans: stall !== 'none' };
}

/** An open question of a task, with the command that answers it. */
export interface OpenQuestion {
  readonly session: string;
  readonly task: string;
  readonly question: string;
  readonly options?: readonly string[];
  /** The work goes on with it. */
  readonly default?: string;
  readonly answerWith: string;
}

export function openQuestions(session: string, tasks: readonly WorkTask[]): OpenQuestion[] {
  return tasks
    .filter(({ isDone }) => !isDone)
    .flatMap(({ id, questions }) =>
      questions.map(({ text, ...given }) => ({
        session,
        task: id,
        question: text,
        ...(given.options !== undefined && given.options.length > 0 && { options: given.options }),
        ...(given.default !== undefined && { default: given.default }),
        answerWith: answerCommand(id, session, questions.length > 1 ? text : undefined),
      })),
    );
}

/** @param question names one of several open questions of the task */
export function answerCommand(task: string, session?: string, question?: string): string {
  const of = session === undefined ? '' : ` -s ${session}`;
  const which = question === undefined ? '' : ` --question ${shellWord(quoted(question))}`;
  return `throughline answer ${shellWord(quoted(task))} "…"${of}${which}`;
}

/** Identifies a question within its session. */
export function openQuestionKey({ task, question }: OpenQuestion): string {
  return `${task}\n${questionKey(question)}`;
}

import type { OutcomeName } from '../ledger/task-ledger.js';
import { stallText } from '../shared/stall-text.js';
import { counted } from '../shared/text.js';

/**
 * What a task needs next. All of it follows from what the session knows: a run that was interrupted at any point finds
 * the same step again.
 *
 * work → judge → (sent back: work again) → approved. A task that is stalled is planned again once: its next prompt has
 * a replan section. If that round does not help either, a person must decide.
 */

/** A task of a plan or a board, with what came of it. */
export interface WorkTask {
  readonly id: string;
  readonly text: string;
  readonly from: 'plan' | 'board';
  /** Nothing is left to do for it: its line is ticked, or its last result is an approval. */
  readonly isDone: boolean;
  /** It was approved, and its line in the plan is open. */
  readonly isUnticked: boolean;
  readonly isOptional: boolean;
  /** Why it cannot be worked on, whatever its results say: its line is blocked, another agent has it. */
  readonly hold?: string;
  /** Tasks that must be done before it, and are not. */
  readonly waitsFor: readonly string[];
  /** All tasks that it depends on, done or not. */
  readonly dependsOn: readonly string[];
  /** Its results with a verdict so far. */
  readonly results: number;
  readonly last?: OutcomeName;
  /** Work results since it began, or since it was approved last. */
  readonly rounds: number;
  readonly stall: Stall;
  /** Why it is stalled, where it is. */
  readonly stalledBy?: string;
}

/** `replan`: a sign has reached its threshold. `beyond`: it has gone on after that. */
export type Stall = 'none' | 'replan' | 'beyond';

export type Step =
  | { readonly kind: 'implement'; readonly round: number; readonly replans: boolean }
  | { readonly kind: 'judge'; readonly round: number }
  /** A person must decide. */
  | { readonly kind: 'needed'; readonly why: string }
  | { readonly kind: 'limit'; readonly why: string };

/**
 * The next step of a task that is not done.
 *
 * @param again the caller wants one more step, whatever keeps the task from it
 */
export function nextStep(
  { last, rounds, stall, stalledBy }: WorkTask,
  maxRounds: number,
  again: boolean,
): Step {
  if (last === 'implementer_completed') return { kind: 'judge', round: rounds };
  if (last === 'reviewer_blocked') {
    return again
      ? { kind: 'judge', round: rounds }
      : { kind: 'needed', why: 'the review says that a person must decide' };
  }
  if (stall === 'beyond' && !again) {
    return {
      kind: 'needed',
      why: `stalled, also after it was planned again: ${stallText(stalledBy ?? 'no progress')}`,
    };
  }
  if (rounds >= maxRounds && !again)
    return { kind: 'limit', why: `not approved after ${counted(rounds, 'round')}, of at most ${maxRounds}` };
  return { kind: 'implement', round: rounds + 1, replans: stall !== 'none' };
}

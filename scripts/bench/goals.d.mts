/** One goal: exactly one of `atLeast` and `atMost`. */
export interface Goal {
  readonly id: string;
  /** What is measured. */
  readonly work: string;
  /** What it is compared with in the same run. */
  readonly against: string;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** `times` is a ratio; anything else belongs to a machine. */
  readonly unit: string;
}
export interface Loss {
  readonly goal: Goal;
  readonly was: number;
  readonly is: number;
  readonly loss: number;
}
export type Figures = Readonly<Record<string, number | undefined>>;
export const TOLERATED_LOSS: number;
export function isMet(goal: Goal, value: number | undefined): boolean | undefined;
export function losses(goals: readonly Goal[], committed: Figures, measured: Figures): Loss[];
export function isRatio(goal: Goal): boolean;

import type { Figures, Goal } from './goals.mjs';

export interface Figure {
  readonly name: string;
  readonly text: string;
}
export interface Run {
  readonly name: string;
  readonly goals: readonly Goal[];
  readonly measured: Figures;
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
}
export function verdict(goal: Goal, value: number | undefined): string;
export function aligned(figures: readonly Figure[]): string;
export function page(report: {
  readonly runs: readonly Run[];
  readonly machine: string;
  readonly versions: string;
  readonly date: string;
  readonly quick: boolean;
}): string;

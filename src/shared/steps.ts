/**
 * Work that can wait between its steps, a few milliseconds each: a process that serves others lets them in there. It
 * returns its outcome at the end.
 */
export type Steps<Outcome> = Generator<undefined, Outcome, undefined>;

/** Lines, blocks or tasks in one step. */
export const STEP = 1000;

/** Does all of it at once. */
export function allAtOnce<Outcome>(steps: Steps<Outcome>): Outcome {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

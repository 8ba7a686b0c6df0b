import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '../shared/steps.js';

/** Does work in steps, and lets the process do what else is waiting after each. */
export async function inTurns<Outcome>(steps: Steps<Outcome>): Promise<Outcome> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await nextTurn();
  }
}

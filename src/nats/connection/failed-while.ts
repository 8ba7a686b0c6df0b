import { toThroughlineError } from './nats-errors.js';

/** Returns what a promise of the client catches, to throw its error as ours, with what failed. */
export function failedWhile(doing: string): (error: unknown) => never {
  return (error) => {
    throw toThroughlineError(error, doing);
  };
}

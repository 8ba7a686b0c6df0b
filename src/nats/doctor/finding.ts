import { codeOf, messageOf } from '../../contracts/errors.js';

/** One line of a diagnosis. */
export interface Finding {
  /** The subject of the check: `stream DISPATCH`. */
  readonly check: string;
  /** `warn` works, but not for long or not as intended; `fail` does not work. */
  readonly level: 'ok' | 'warn' | 'fail';
  /** What was found. */
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string;
  /** How many repairs of results there were, by kind. */
  readonly repaired?: Readonly<Record<string, number>>;
  /** Set where the user may not look at it. */
  readonly denied?: true;
}

export function ok(check: string, message: string): Finding {
  return { check, level: 'ok', message };
}

export function warn(check: string, message: string, fix: string): Finding {
  return { check, level: 'warn', message, fix };
}

export function fail(check: string, message: string, fix: string): Finding {
  return { check, level: 'fail', message, fix };
}

/** A check that cannot be carried out is a finding too, and does not stop the others. */
export async function examined(check: string, examine: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await examine();
  } catch (error) {
    const message = `cannot be checked: ${messageOf(error)} (${codeOf(error)})`;
    return codeOf(error) === 'permission_denied'
      ? [{ ...warn(check, message, 'run it as a user with the permissions of a reader'), denied: true }]
      : [fail(check, message, 'check that the server answers: nats server check connection')];
  }
}

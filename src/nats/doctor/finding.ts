import { codeOf, messageOf } from '../../contracts/errors.js';

/** One line of a diagnosis. */
export interface Finding {
  readonly check: string;
  /** `warn`: works, but not for long or not as intended. `fail`: does not work. */
  readonly level: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly fix?: string;
  /** Number of repairs of results by kind. */
  readonly repaired?: Readonly<Record<string, number>>;
  /** Set if the user lacks the permission to check. */
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

/** Runs a check; its failure is a finding and does not stop the others. */
export async function examined(check: string, examine: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await examine();
  } catch (error) {
    const message = `cannot be checked: ${messageOf(error)} (${codeOf(error)})`;
    return codeOf(error) === 'permission_denied'
      ? [{ ...warn(check, message, 'run it as a user with the role operator'), denied: true }]
      : [fail(check, message, 'check that the server answers: nats server check connection')];
  }
}

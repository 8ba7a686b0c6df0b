/** One line of a diagnosis. */
export interface Finding {
  readonly check: string;
  /** `warn`: works, but not for long or not as intended. `fail`: does not work. */
  readonly level: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly fix?: string;
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

import { ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';

/** Throws `session_importing` for a session that is still being imported. */
export function requireWhole(session: Token, record: Archived | undefined): void {
  if (record?.importing !== undefined) throw importing(session);
}

export function importing(session: Token): ThroughlineError {
  const message = `session ${session} is being imported. Where that was cut short, run "throughline session import" again with the same file, or "throughline session forget ${session}"`;
  return new ThroughlineError('session_importing', message, { details: { session } });
}

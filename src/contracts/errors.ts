import type { ErrorCode } from './error-codes.js';

/**
 * A fault with a stable code, as it travels to a caller, into a log line or an exit status.
 *
 * `message` names the field, the value and the fix; `details` is JSON-safe and optional.
 */
export class ThroughlineError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ThroughlineError';
    this.code = code;
    this.details = options.details;
  }
}

/** An embedder gives no vectors for these texts, now or later; it may take fewer or other ones. */
export class TextsRefusedError extends ThroughlineError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('unavailable', message, options);
  }
}

/** The text of anything that was thrown, for a log line or an error reply. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The system's code of what was thrown, such as `ENOSPC`; `undefined` for what the system did not say. */
export function systemCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && 'syscall' in thrown ? String(thrown.code) : undefined;
}

/** Why a file cannot be read, for those who have named it. */
export function fileFault(error: unknown): string {
  return systemCode(error) === 'ENOENT' ? 'does not exist' : messageOf(error);
}

/** The stable code of anything that was thrown, for a log line. */
export function codeOf(thrown: unknown): ErrorCode {
  return thrown instanceof ThroughlineError ? thrown.code : 'internal';
}

/** Closes a switch over a union: a new member that is not handled fails the type check here. */
export function assertNever(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}

/** Why something was refused, and what to do about it where that is known and not said yet. */
export function withRemedy(why: string, fix: string | undefined): string {
  return fix === undefined || why.includes(fix) ? why : `${why}. To fix it: ${fix}`;
}

/** Refuses what would bring a session back that is being forgotten. */
export function beingForgotten(session: string): ThroughlineError {
  return new ThroughlineError(
    'session_forgotten',
    `session ${session} is being forgotten: try again in a moment, and it begins at nothing`,
    { details: { session } },
  );
}

/** What is said of a session without events: it does not exist, and its name may be wrong. */
export function noSuchSession(session: string): string {
  return `session ${session} does not exist: "throughline session ls" lists those that do`;
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  schema_invalid: 400,
  json_parse_failed: 400,
  token_invalid: 400,
  template_invalid: 400,
  prompt_overflow: 413,
  progress_ledger_missing_tasks: 404,
  progress_ledger_parse_failed: 422,
  plan_too_long: 413,
  not_found: 404,
  ambiguous: 409,
  duplicate: 409,
  near_duplicate: 409,
  already_decided: 409,
  project_bound: 409,
  limit_reached: 409,
  cycle: 409,
  open_tasks: 409,
  open_fixes: 409,
  session_completed: 409,
  session_archived: 409,
  summary_exists: 409,
  conflict: 409,
  not_caught_up: 409,
  session_forgotten: 409,
  session_exists: 409,
  session_importing: 409,
  dispatch_rejected: 422,
  stored_reply: 409,
  too_large: 413,
  permission_denied: 403,
  rate_limited: 429,
  unavailable: 503,
  store_full: 507,
};

/** The number of an error in the manner of HTTP: 4xx is the caller's, 5xx is not. */
export function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? 500;
}

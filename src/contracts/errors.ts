import { nearestName } from '../shared/nearest-name.js';
import { ERROR_TEXTS, type ErrorCode } from './error-codes.js';

/**
 * An error with a stable code, as callers, log lines and exit statuses show it.
 *
 * `message` names the field, the value and the fix, which `fix` has alone; `details` is JSON-safe and optional.
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

  /** How to correct it. */
  get fix(): string {
    return String(this.details?.fix ?? ERROR_TEXTS[this.code].fix);
  }
}

export function usageError(message: string): ThroughlineError {
  return new ThroughlineError('usage', message);
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns the system's error code, such as `ENOSPC`; `undefined` for other errors. */
export function systemCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && 'syscall' in thrown ? String(thrown.code) : undefined;
}

export function isMissing(thrown: unknown): boolean {
  const code = systemCode(thrown);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

export function codeOf(thrown: unknown): ErrorCode {
  return thrown instanceof ThroughlineError ? thrown.code : 'internal';
}

/** @throws ThroughlineError `schema_invalid` that names an option which is not among `known` */
export function checkOptions(options: object, known: Readonly<Record<string, true>>, of: string): void {
  const names = Object.keys(known);
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const meant = nearestName(name, names);
    const use = meant === undefined ? `use one of ${names.join(', ')}` : `did you mean ${meant}?`;
    throw new ThroughlineError('schema_invalid', `${name} is not an option of ${of}: ${use}`, {
      details: { fields: [name] },
    });
  }
}

/** Closes a switch over a union: an unhandled member fails the type check here. */
export function assertNever(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}

export function withRemedy(why: string, fix: string | undefined): string {
  return fix === undefined || why.includes(fix) ? why : `${why}. To fix it: ${fix}`;
}

export function beingForgotten(session: string): ThroughlineError {
  return new ThroughlineError(
    'session_forgotten',
    `session ${session} is being forgotten: try again in a moment, and it begins at nothing`,
    { details: { session } },
  );
}

/** `details.session` is its name: a command line looks for one that is called nearly so. */
export function noSuchSession(
  session: string,
  fix = '"throughline session ls" lists those that do',
): ThroughlineError {
  return new ThroughlineError('not_found', `session ${session} does not exist: ${fix}`, {
    details: { session, fix },
  });
}

const STATUS: Readonly<Record<number, readonly ErrorCode[]>> = {
  400: ['schema_invalid', 'json_parse_failed', 'token_invalid', 'template_invalid'],
  403: ['permission_denied'],
  404: ['progress_ledger_missing_tasks', 'not_found'],
  409: [
    'ambiguous',
    'duplicate',
    'near_duplicate',
    'already_decided',
    'project_bound',
    'limit_reached',
    'cycle',
    'open_tasks',
    'open_fixes',
    'session_completed',
    'session_archived',
    'summary_exists',
    'conflict',
    'not_caught_up',
    'session_forgotten',
    'session_exists',
    'stored_reply',
  ],
  413: ['prompt_overflow', 'plan_too_long', 'too_large'],
  422: ['progress_ledger_parse_failed', 'dispatch_rejected'],
  429: ['rate_limited'],
  503: ['unavailable'],
  507: ['store_full'],
};

/** Maps a code to an HTTP status: 4xx is the caller's fault, 5xx is not. */
export function statusOf(code: ErrorCode): number {
  const status = Object.keys(STATUS).find((key) => STATUS[Number(key)]?.includes(code));
  return Number(status ?? 500);
}

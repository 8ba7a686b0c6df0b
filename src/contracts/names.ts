import { ThroughlineError } from '../errors.js';

/**
 * Every subject, stream, bucket, service and header name. Nothing else in the code builds one, and every part of a
 * name that comes from outside passes `token()` first.
 */

declare const tokenBrand: unique symbol;

/** A string that is safe as one token of a subject, stream, key or queue name. */
export type Token = string & { readonly [tokenBrand]: true };

const TOKEN_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether `value` may stand as one token of a name. */
export function isToken(value: unknown): value is Token {
  return typeof value === 'string' && TOKEN_PATTERN.test(value);
}

/**
 * Makes a token, or throws `token_invalid`.
 *
 * @param field what the value is, for the message: `session`, `role`, …
 */
export function token(value: unknown, field: string): Token {
  if (isToken(value)) return value;
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : `a ${typeof value}`;
  throw new ThroughlineError(
    'token_invalid',
    `${field} is ${shown}: use 1 to 64 characters of A-Z a-z 0-9 _ and -`,
    { details: { field } },
  );
}

/** Who returned a result. */
export const ROLES = ['implementer', 'reviewer'] as const;
export type Role = (typeof ROLES)[number];

/** Whether `value` is a role. */
export function isRole(value: unknown): value is Role {
  return ROLES.some((role) => role === value);
}

export const DISPATCH_STREAM = 'DISPATCH';
export const DISPATCH_SUBJECTS = 'dispatch.>';
export const EXTRACTOR_CONSUMER = 'extractor';
export const REJECTED_STREAM = 'DISPATCH_REJECTED';
export const REJECTED_SUBJECTS = 'rejected.>';
export const SNAPSHOT_BUCKET = 'session_snapshots';
export const COMPILER_SERVICE = 'prompt-compiler';
export const COMPILE_SUBJECT = 'prompt.compile';

const SESSION_STREAM_PREFIX = 'SESSION_';

/** Headers that Throughline writes; the README lists them. */
export const HEADERS = {
  errorCode: 'Throughline-Error-Code',
  errorReason: 'Throughline-Error-Reason',
  dispatchSequence: 'Throughline-Dispatch-Sequence',
  dispatchSubject: 'Throughline-Dispatch-Subject',
  dispatchTime: 'Throughline-Dispatch-Time',
  part: 'Throughline-Part',
  parts: 'Throughline-Parts',
} as const;

/** `dispatch.<session>.<role>`: where a runtime publishes a result. */
export function dispatchSubject(session: Token, role: Role): string {
  return `dispatch.${session}.${role}`;
}

/** What a dispatch subject names: both parts are `undefined` where they are not valid. */
export function parseDispatchSubject(subject: string): {
  session: Token | undefined;
  role: Role | undefined;
} {
  const parts = subject.split('.');
  const [, session, role] = parts;
  return {
    session: isToken(session) ? session : undefined,
    role: parts.length === 3 && isRole(role) ? role : undefined,
  };
}

/** `rejected.<session>.<role>`, with `_` for a part that was not valid. */
export function rejectedSubject(session: Token | undefined, role: Role | undefined): string {
  return `rejected.${session ?? '_'}.${role ?? '_'}`;
}

/** `SESSION_<session>`: the stream that holds one session's events. */
export function sessionStream(session: Token): string {
  return `${SESSION_STREAM_PREFIX}${session}`;
}

/** The session that a stream belongs to, or `undefined` for any other stream. */
export function sessionOfStream(stream: string): Token | undefined {
  if (!stream.startsWith(SESSION_STREAM_PREFIX)) return undefined;
  const session = stream.slice(SESSION_STREAM_PREFIX.length);
  return isToken(session) ? session : undefined;
}

/** `session.<session>.<type>`: the subject of one event. */
export function sessionSubject(session: Token, type: string): string {
  return `session.${session}.${type}`;
}

/** `session.<session>.>`: all events of one session. */
export function sessionSubjects(session: Token): string {
  return `session.${session}.>`;
}

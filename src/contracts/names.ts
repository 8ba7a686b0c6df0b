import { createHash } from 'node:crypto';
import { hashOf } from '../shared/hash.js';
import { isObject } from '../shared/text.js';
import { ThroughlineError } from './errors.js';
import { isRole, type Role } from './kinds.js';

/** Every subject, stream, bucket, service and header name. Only this file builds one; outside parts pass `token()`. */

declare const tokenBrand: unique symbol;

/** A string that is safe as one token of a subject, stream, key or queue name. */
export type Token = string & { readonly [tokenBrand]: true };

export const TOKEN_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_TOKEN = 64;

export function isToken(value: unknown): value is Token {
  return typeof value === 'string' && TOKEN_PATTERN.test(value);
}

/** Throws `token_invalid`. `field` names the value in the message: `session`, `role`, … */
export function token(value: unknown, field: string): Token {
  if (isToken(value)) return value;
  const shown = typeof value === 'string' ? quotedName(value) : `a ${typeof value}`;
  throw new ThroughlineError(
    'token_invalid',
    `${field} is ${shown}: use 1 to 64 characters of A-Z a-z 0-9 _ and -`,
    { details: { field } },
  );
}

/** Returns the session and the id of a statement as prompts print one of another session: `web/M7`. */
export function statementElsewhere(given: unknown): { session: Token; id: string } | undefined {
  const [, session = '', id = ''] = /^([^/]+)\/([MN]\d[\d.v]*)$/i.exec(`${given}`) ?? [];
  return isToken(session) ? { session, id } : undefined;
}

function quotedName(value: string): string {
  return value.length <= MAX_QUOTED ? JSON.stringify(value) : `a text of ${value.length} characters`;
}

/** Longer names are not quoted: half a name does not help, and may be half a secret. */
const MAX_QUOTED = 80;

export const DISPATCH_STREAM = 'DISPATCH';
export const DISPATCH_SUBJECTS = 'dispatch.>';
export const EXTRACTOR_CONSUMER = 'extractor';
export const REJECTED_STREAM = 'DISPATCH_REJECTED';
export const REJECTED_SUBJECTS = 'rejected.>';
export const SNAPSHOT_BUCKET = 'session_snapshots';
/** Begins the key of a project's snapshot in that bucket; no session has such a name. */
export const PROJECT_KEY = 'project=';
/** Entries of session lists, rebuilt from the logs if lost. */
export const INDEX_BUCKET = 'session_index';
/** See `lifecycle-record.ts`. */
export const LIFECYCLE_BUCKET = 'session_lifecycle';
/** Entries expire, so no backup contains them. */
export const LEASE_BUCKET = 'session_leases';
/** Traces of recently compiled prompts. */
export const PROMPTS_STREAM = 'PROMPTS';
export const PROMPTS_SUBJECTS = 'compiled.*';

export const LEARNINGS_STREAM = 'LEARNINGS';
export const LEARNINGS_SUBJECTS = 'learning.*.>';
/** Names of the services on NATS and in logs, by what `throughline admin serve --only` takes, in the order in which they start. */
export const SERVICE_NAMES = {
  extractor: 'extractor',
  compiler: 'prompt-compiler',
  tools: 'session-tools',
  learnings: 'learnings',
  keeper: 'keeper',
} as const;
/** A name accepted by `throughline admin serve --only`. */
export type ServiceName = keyof typeof SERVICE_NAMES;

/** The project of sessions that name none. */
export const DEFAULT_PROJECT = 'default';

/** Created by the doctor to check that the server can store data, then removed. */
export const PROBE_STREAM = 'THROUGHLINE_PROBE';
export const PROBE_SUBJECT = 'throughline.probe';

/** Recorded once: the key `layout` says how session logs are laid out. */
export const INSTALLATION_BUCKET = 'throughline';
export const LAYOUT_SUBJECT = `$KV.${INSTALLATION_BUCKET}.layout`;

const SESSION_STREAM_PREFIX = 'SESSION_';
const SHARD_STREAM_PREFIX = 'SESSIONS_';

/** First tokens of our subjects. */
const OWN_NAMESPACES: ReadonlySet<string> = new Set([
  ...['dispatch', 'session', 'sessions', 'rejected', 'learning', 'proposal'],
  ...['prompt', 'compiled', 'tool', 'run', 'trace', 'health'],
]);

/** Returns true for a subject of ours or of NATS, never a valid reply subject: replies there would bypass permissions. */
export function isOwnSubject(subject: string): boolean {
  const [first = ''] = subject.split('.', 1);
  return first.startsWith('$') || OWN_NAMESPACES.has(first);
}

/** The version of the replies of services, which a client of another version refuses, and its header. */
export const REPLY_VERSION = '1';
export const REPLY_VERSION_HEADER = 'Throughline-Reply-Version';

export const HEADERS = {
  errorCode: 'Throughline-Error-Code',
  errorReason: 'Throughline-Error-Reason',
  errorFix: 'Throughline-Error-Fix',
  errorMeant: 'Throughline-Error-Meant',
  dispatchSequence: 'Throughline-Dispatch-Sequence',
  dispatchSubject: 'Throughline-Dispatch-Subject',
  dispatchTime: 'Throughline-Dispatch-Time',
  /** Size of a body that did not fit the message together with these headers. */
  dispatchBytes: 'Throughline-Dispatch-Bytes',
  retryId: 'Throughline-Retry-Id',
} as const;

export const dispatchSubject = (session: Token, role: Role) => `dispatch.${session}.${role}`;

/**
 * Makes the `Nats-Msg-Id` of a dispatch. Deduplication covers the whole stream `DISPATCH`: if others could guess an id,
 * they could use it first and suppress the result.
 *
 * @param random at least 128 bits that no one else can know
 */
export function dispatchMessageId(session: Token | undefined, random: string): string {
  return `${session ?? '_'}:${random}`;
}

/** Each part is `undefined` if it is invalid. */
export function parseDispatchSubject(subject: string): {
  readonly session: Token | undefined;
  readonly role: Role | undefined;
} {
  const parts = subject.split('.');
  const [, session, role] = parts;
  return {
    session: isToken(session) ? session : undefined,
    role: parts.length === 3 && isRole(role) ? role : undefined,
  };
}

/** `<subject>.<session>`, as in `prompt.compile.demo`: NATS permissions can limit a caller to its own session. */
export function sessionRequest(subject: string, session: Token): string {
  return `${subject}.${session}`;
}

/** Returns the session that a request names, if it is valid. */
export function sessionIn(request: unknown): Token | undefined {
  return isObject(request) && isToken(request.session) ? request.session : undefined;
}

/** Fields that reach beyond a session: a request on its subject, which a user may be limited to, has none of them. */
const BEYOND_SESSION = ['project', 'tasksPath'] as const;

export function beyondSession(body: object): (typeof BEYOND_SESSION)[number] | undefined {
  return BEYOND_SESSION.find((field) => (Reflect.get(body, field) ?? undefined) !== undefined);
}

/** Returns the subject of the session that a request names, for users limited to it; unscoped for an invalid name. */
export function scopedRequest(subject: string, body: object): string {
  const session = sessionIn(body);
  return session !== undefined && beyondSession(body) === undefined
    ? sessionRequest(subject, session)
    : subject;
}

export const healthSubject = (service: string) => `health.${service}`;

/** `_` stands for an invalid part. */
export const rejectedSubject = (session: Token | undefined, role: Role | undefined) =>
  `rejected.${session ?? '_'}.${role ?? '_'}`;

/** `*` stands for a part that is left out. */
export const rejectedSubjects = (session: Token | undefined, role: Role | undefined) =>
  `rejected.${session ?? '*'}.${role ?? '*'}`;

export const indexSubject = (session: Token | '*') => `$KV.${INDEX_BUCKET}.${session}`;

export const compiledSubject = (session: Token) => `compiled.${session}`;

export const sessionStream = (session: Token) => `${SESSION_STREAM_PREFIX}${session}`;

export function sessionOfStream(stream: string): Token | undefined {
  if (!stream.startsWith(SESSION_STREAM_PREFIX)) return undefined;
  const session = stream.slice(SESSION_STREAM_PREFIX.length);
  return isToken(session) ? session : undefined;
}

/** All session streams, in each layout, listen on subjects under these. */
export const ALL_SESSIONS = 'session.>';
export const ALL_SHARDS = 'sessions.>';

/** `SESSIONS_07`; two hexadecimal digits. */
export const shardStream = (shard: number) => `${SHARD_STREAM_PREFIX}${twoDigits(shard)}`;

export function shardOfStream(stream: string): number | undefined {
  if (!stream.startsWith(SHARD_STREAM_PREFIX)) return undefined;
  const digits = stream.slice(SHARD_STREAM_PREFIX.length);
  return SHARD_DIGITS.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

const SHARD_DIGITS = /^[0-9a-f]{2}$/;

function twoDigits(shard: number): string {
  return shard.toString(16).padStart(2, '0');
}

export const shardSubjects = (shard: number) => `sessions.${twoDigits(shard)}.*.>`;

/** The subjects of published events, by layout. */
export const PUBLISHED_EVENTS = { 'per-session': 'session.*.>', sharded: 'sessions.*.*.>' } as const;

/** Returns the session of a published event, with its type, which is `result` for those of dispatches. */
export function publishedEvent(subject: string): { session: Token; type: string } | undefined {
  const parts = subject.split('.');
  const [session, first = '', ...rest] = parts.slice(parts[0] === 'sessions' ? 2 : 1);
  if (!isToken(session)) return undefined;
  if (first === 'result') return { session, type: first };
  return { session, type: (first === 'command' ? rest : [first, ...rest]).join('.') };
}

export function sessionOfSubject(subject: string): Token | undefined {
  const [first, session, type] = subject.split('.', 3);
  return first === 'session' && type !== undefined && isToken(session) ? session : undefined;
}

/** Subjects on which events of a session are announced, in each layout. */
export function announcedOn(session: Token): string[] {
  return [sessionSubjects(session), `sessions.*.${session}.>`];
}

/** The path is `result.<number>`, `command.<type>` or the type of another event. */
export const sessionSubject = (session: Token, path: string) => `session.${session}.${path}`;

export const sessionSubjects = (session: Token) => `session.${session}.>`;

/** Makes the token of a project: other characters become `-`. Names that lose letters get part of their hash, to stay distinct. */
export function projectOf(name: string | undefined): Token {
  const given = (name ?? '').trim().normalize('NFC');
  const cleaned = given.replace(/[^A-Za-z0-9_-]/gu, '-');
  const loses = cleaned.length > MAX_TOKEN || /[^\p{ASCII}]/u.test(given);
  const kept = loses ? `${cleaned.slice(0, MAX_TOKEN - 9)}-${hashOf(given).slice(0, 8)}` : cleaned;
  return token(kept === '' ? DEFAULT_PROJECT : kept, 'project');
}

export const learningSubject = (project: Token, type: string) => `learning.${project}.${type}`;

export const learningSubjects = (project: Token) => `learning.${project}.>`;

export function projectOfSubject(subject: string): Token | undefined {
  const [first, project, type] = subject.split('.');
  return first === 'learning' && type !== undefined && isToken(project) ? project : undefined;
}

/** Keys of `session_lifecycle` that belong to no session. */
export const RETENTION_KEY = 'retention';

/** `session.<hash of its name>`, because the name itself must not stay when a session is erased. */
export function lifecycleKey(session: Token): string {
  return `session.${createHash('sha256').update(session).digest('hex').slice(0, 40)}`;
}

/** How session logs lie in streams, chosen for a new installation: one stream each, or a number of shared streams. */
export type SessionLayout =
  | { readonly layout: 'per-session' }
  | { readonly layout: 'sharded'; readonly shards: number };

export const LAYOUTS = ['per-session', 'sharded'] as const satisfies SessionLayout['layout'][];
export const PER_SESSION: SessionLayout = { layout: 'per-session' };
export const DEFAULT_SHARDS = 64;
export const MAX_SHARDS = 256;

/** A power of two: it stands for good, and few choices are enough. */
export function isShardCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= MAX_SHARDS && (value & (value - 1)) === 0;
}

/** Returns 0 to `shards` - 1: 32-bit FNV-1a, its halves folded because low bits are badly distributed. It must never change. */
export function shardOf(session: Token, shards: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < session.length; at += 1) {
    hash = Math.imul(hash ^ session.charCodeAt(at), 0x01000193);
  }
  return ((hash ^ (hash >>> 16)) >>> 0) % shards;
}

export function streamOf(layout: SessionLayout, session: Token): string {
  return layout.layout === 'per-session'
    ? sessionStream(session)
    : shardStream(shardOf(session, layout.shards));
}

/** Returns the subject to publish an event on; every layout stores it as `session.<session>.<path>`. */
export function publishedOn(layout: SessionLayout, session: Token, path: string): string {
  // `sessions.<shard>.<session>.<path>`, on which a shard's events are published; stored as `session.<session>.<path>`.
  return layout.layout === 'per-session'
    ? sessionSubject(session, path)
    : `sessions.${twoDigits(shardOf(session, layout.shards))}.${session}.${path}`;
}

export function layoutInWords(layout: SessionLayout): string {
  return layout.layout === 'per-session' ? 'a stream per session' : `sessions in ${layout.shards} shards`;
}

import { createHash } from 'node:crypto';
import { ThroughlineError } from './errors.js';
import { isRole, type Role, rolesOf } from './kinds.js';

/**
 * Every subject, stream, bucket, service and header name. Nothing else in the code builds one, and every part of a
 * name that comes from outside passes `token()` first.
 */

declare const tokenBrand: unique symbol;

/** A string that is safe as one token of a subject, stream, key or queue name. */
export type Token = string & { readonly [tokenBrand]: true };

/** What a token holds. */
export const TOKEN_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_TOKEN = 64;

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
  const shown = typeof value === 'string' ? quotedName(value) : `a ${typeof value}`;
  throw new ThroughlineError(
    'token_invalid',
    `${field} is ${shown}: use 1 to 64 characters of A-Z a-z 0-9 _ and -`,
    { details: { field } },
  );
}

function quotedName(value: string): string {
  return value.length <= MAX_QUOTED ? JSON.stringify(value) : `a text of ${value.length} characters`;
}

/** Longest wrong name that a message quotes. Half a name does not help, and may be half a secret. */
const MAX_QUOTED = 80;

export const DISPATCH_STREAM = 'DISPATCH';
/** Nothing is ever published here to be a result: it only moves numbers up. */
export const VOID_DISPATCHES = 'dispatch.void';
export const DISPATCH_SUBJECTS = 'dispatch.>';
export const EXTRACTOR_CONSUMER = 'extractor';
export const REJECTED_STREAM = 'DISPATCH_REJECTED';
export const REJECTED_SUBJECTS = 'rejected.>';
export const SNAPSHOT_BUCKET = 'session_snapshots';
export const TELEMETRY_BUCKET = 'session_telemetry';
/** What is known of each session, for lists: made again from the logs when it is lost. */
export const INDEX_BUCKET = 'session_index';
/** What has become of sessions beyond their events: see `lifecycle-record.ts`. */
export const LIFECYCLE_BUCKET = 'session_lifecycle';
export const VECTOR_BUCKET = 'learning_vectors';
/** Who works on what now. Each entry ends by itself, so no backup has them. */
export const LEASE_BUCKET = 'session_leases';
export const EXTRACTOR_SERVICE = 'extractor';
export const COMPILER_SERVICE = 'prompt-compiler';
export const COMPILE_SUBJECT = 'prompt.compile';
/** The same for the past, neither counted nor kept: readers may ask for it. */
export const PAST_PROMPT_SUBJECT = 'prompt.past';
/** Traces of the prompts that were compiled last. */
export const PROMPTS_STREAM = 'PROMPTS';
export const PROMPTS_SUBJECTS = 'compiled.*';

/** What the learner takes of the stream `DISPATCH`. */
export const DISPATCH_REVIEWS = `dispatch.*.${rolesOf('review')[0]}`;
export const LEARNINGS_STREAM = 'LEARNINGS';
export const LEARNINGS_SUBJECTS = 'learning.*.>';
export const LEARNER_CONSUMER = 'learner';
export const LEARNING_SNAPSHOT_BUCKET = 'learning_snapshots';
export const LEARNINGS_SERVICE = 'learnings';
export const KEEPER_SERVICE = 'keeper';
/** The project of sessions that name none. */
export const DEFAULT_PROJECT = 'default';

/** Made by the doctor to see whether anything can be stored, and removed again; no other stream takes its subject. */
export const PROBE_STREAM = 'THROUGHLINE_PROBE';
export const PROBE_SUBJECT = 'throughline.probe';

/** What an installation is, recorded once: under `layout`, how its session logs are laid out. */
export const INSTALLATION_BUCKET = 'throughline';
export const LAYOUT_SUBJECT = `$KV.${INSTALLATION_BUCKET}.layout`;

const SESSION_STREAM_PREFIX = 'SESSION_';
const SHARD_STREAM_PREFIX = 'SESSIONS_';

/** First tokens of the subjects that requests, results and events stand under. */
const OWN_NAMESPACES: ReadonlySet<string> = new Set([
  ...['dispatch', 'session', 'sessions', 'rejected', 'learning', 'proposal'],
  ...['prompt', 'compiled', 'tool', 'run', 'trace', 'health'],
]);

/**
 * Whether a subject is one of ours, or of NATS itself (`$JS.`, `$KV.`, `$SRV.` …): no answer is ever expected there. A
 * service that answered there would write what its caller may not write.
 */
export function isOwnSubject(subject: string): boolean {
  const [first = ''] = subject.split('.', 1);
  return first.startsWith('$') || OWN_NAMESPACES.has(first);
}

/** Headers that Throughline writes. */
export const HEADERS = {
  errorCode: 'Throughline-Error-Code',
  errorReason: 'Throughline-Error-Reason',
  errorFix: 'Throughline-Error-Fix',
  errorMeant: 'Throughline-Error-Meant',
  dispatchSequence: 'Throughline-Dispatch-Sequence',
  dispatchSubject: 'Throughline-Dispatch-Subject',
  dispatchTime: 'Throughline-Dispatch-Time',
  retryId: 'Throughline-Retry-Id',
  /** The message id that a dispatch was first published under, where a repair has stored a copy under another. */
  messageId: 'Throughline-Message-Id',
  /** An empty message of our own, which only moves the numbers of a stream up. */
  void: 'Throughline-Void',
  part: 'Throughline-Part',
  parts: 'Throughline-Parts',
} as const;

/** `dispatch.<session>.<role>`: where a runtime publishes a result. */
export function dispatchSubject(session: Token, role: Role): string {
  return `dispatch.${session}.${role}`;
}

/**
 * The `Nats-Msg-Id` of a dispatch. Ids count within the whole stream `DISPATCH`: if others could guess one, they could
 * use it first, and the result that carries it would be taken for a repetition of theirs.
 *
 * @param random at least 128 bits that no one else can know
 */
export function dispatchMessageId(session: Token | undefined, random: string): string {
  return `${session ?? '_'}:${random}`;
}

/** What a dispatch subject names: both parts are `undefined` where they are not valid. */
interface DispatchAddress {
  readonly session: Token | undefined;
  readonly role: Role | undefined;
}

/** Asked several times for each result, and a worker meets few subjects. */
const addresses = new Map<string, DispatchAddress>();
const MAX_ADDRESSES = 10_000;

/** Reads a dispatch subject. Never throws. */
export function parseDispatchSubject(subject: string): DispatchAddress {
  const known = addresses.get(subject);
  if (known !== undefined) return known;
  const parts = subject.split('.');
  const [, session, role] = parts;
  const address = Object.freeze({
    session: isToken(session) ? session : undefined,
    role: parts.length === 3 && isRole(role) ? role : undefined,
  });
  if (addresses.size >= MAX_ADDRESSES) addresses.clear();
  addresses.set(subject, address);
  return address;
}

/**
 * `<subject>.<session>`, as in `prompt.compile.demo`: the request of one session. A service listens there as well, and
 * refuses a request for any other session, so that a NATS permission can hold a caller to its own.
 */
export function sessionRequest(subject: string, session: Token): string {
  return `${subject}.${session}`;
}

/**
 * Where a request goes: to the subject of the session that it names, so that a user who may only work on that session
 * can send it. An invalid name goes to the unscoped subject, where the service says what is wrong with it.
 */
export function scopedRequest(subject: string, body: object): string {
  const session = 'session' in body ? body.session : undefined;
  return isToken(session) ? sessionRequest(subject, session) : subject;
}

/** `health.<service>`: answers how any one instance does; the statistics of the service show it for each. */
export function healthSubject(service: string): string {
  return `health.${service}`;
}

/** `rejected.<session>.<role>`, with `_` for a part that was not valid. */
export function rejectedSubject(session: Token | undefined, role: Role | undefined): string {
  return `rejected.${session ?? '_'}.${role ?? '_'}`;
}

/** `rejected.<session>.<role>` for any session, any role, or both where they are left out. */
export function rejectedSubjects(session: Token | undefined, role: Role | undefined): string {
  return `rejected.${session ?? '*'}.${role ?? '*'}`;
}

/** `$KV.session_index.<session>`, or of any session: where the entry of a session is written. */
export function indexSubject(session: Token | '*'): string {
  return `$KV.${INDEX_BUCKET}.${session}`;
}

/** `compiled.<session>`: the traces of the prompts of one session. */
export function compiledSubject(session: Token): string {
  return `compiled.${session}`;
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

/** The streams of all sessions take subjects of these, in each layout. */
export const ALL_SESSIONS = 'session.>';
export const ALL_SHARDS = 'sessions.>';

/** `SESSIONS_07`: the stream that holds the events of all sessions of one shard; two hexadecimal digits. */
export function shardStream(shard: number): string {
  return `${SHARD_STREAM_PREFIX}${twoDigits(shard)}`;
}

/** The shard that a stream is, or `undefined` for any other stream. */
export function shardOfStream(stream: string): number | undefined {
  if (!stream.startsWith(SHARD_STREAM_PREFIX)) return undefined;
  const digits = stream.slice(SHARD_STREAM_PREFIX.length);
  return SHARD_DIGITS.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

const SHARD_DIGITS = /^[0-9a-f]{2}$/;

function twoDigits(shard: number): string {
  return shard.toString(16).padStart(2, '0');
}

/**
 * `sessions.<shard>.<session>.<type>`: where an event is published for the stream of a shard, which stores it under
 * `session.<session>.<type>`. No hash is part of what is stored, so readers find it under the same name in both layouts.
 */
export function shardIntake(shard: number, session: Token, type: string): string {
  return `sessions.${twoDigits(shard)}.${session}.${type}`;
}

/** `sessions.<shard>.*.>`: all that the stream of a shard takes. */
export function shardSubjects(shard: number): string {
  return `sessions.${twoDigits(shard)}.*.>`;
}

/** Where the events of all sessions are published, in each layout. */
export const PUBLISHED_EVENTS = { 'per-session': 'session.*.>', sharded: 'sessions.*.*.>' } as const;

/** The session and type of an event that was published, or `undefined` for any other subject. */
export function publishedEvent(subject: string): { session: Token; type: string } | undefined {
  const parts = subject.split('.');
  const [session, ...type] = parts.slice(parts[0] === 'sessions' ? 2 : 1);
  return isToken(session) ? { session, type: type.join('.') } : undefined;
}

/** The session of the subject that an event is stored under, or `undefined` for any other subject. */
export function sessionOfSubject(subject: string): Token | undefined {
  const [first, session, type] = subject.split('.', 3);
  return first === 'session' && type !== undefined && isToken(session) ? session : undefined;
}

/** `session.<session>.<type>`: the subject of one event; `*` stands for any session. */
export function sessionSubject(session: Token | '*', type: string): string {
  return `session.${session}.${type}`;
}

/** `session.<session>.<family>.>`: the events of one session whose types begin with a word. */
export function sessionFamilySubjects(session: Token, family: string): string {
  return `session.${session}.${family}.>`;
}

/** `session.<session>.>`: all events of one session. */
export function sessionSubjects(session: Token): string {
  return `session.${session}.>`;
}

/**
 * The project that a name stands for: signs and spaces become `-`, so that `my app` and `my-app` are one. Without a
 * name it is `default`. A name that would lose letters gets a part of its hash, since others may lose the same ones.
 */
export function projectOf(name: string | undefined): Token {
  const given = (name ?? '').trim().normalize('NFC');
  const cleaned = given.replace(/[^A-Za-z0-9_-]/gu, '-');
  const loses = cleaned.length > MAX_TOKEN || /[^\p{ASCII}]/u.test(given);
  const kept = loses ? `${cleaned.slice(0, MAX_TOKEN - 9)}-${shortHash(given)}` : cleaned;
  return token(kept === '' ? DEFAULT_PROJECT : kept, 'project');
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** `learning.<project>.<type>`: the subject of one event. */
export function learningSubject(project: Token, type: string): string {
  return `learning.${project}.${type}`;
}

/** `learning.<project>.>`: all events of one project. */
export function learningSubjects(project: Token): string {
  return `learning.${project}.>`;
}

/** The project of an event's subject, or `undefined` for any other subject. */
export function projectOfSubject(subject: string): Token | undefined {
  const [first, project, type] = subject.split('.');
  return first === 'learning' && type !== undefined && isToken(project) ? project : undefined;
}

/** `<project>.<learning>`: the key of one learning's vector. */
export function vectorKey(project: Token, learning: Token): string {
  return `${project}.${learning}`;
}

/** `$KV.learning_vectors.<project>.*`: the subjects of all vectors of one project. */
export function vectorSubjects(project: Token): string {
  return `$KV.${VECTOR_BUCKET}.${project}.*`;
}

/** Keys of the bucket `session_lifecycle` that belong to no session: how long things are kept, and who sees to it. */
export const RETENTION_KEY = 'retention';
export const RETENTION_RUN_KEY = 'retention_run';

/** `archived.<session>`: the key of the record that a session is archived. */
export function archivedKey(session: Token): string {
  return `archived.${session}`;
}

/** `forgotten.<hash>`: the key of the record that a session was forgotten; its name must not stay. */
export function forgottenKey(session: Token): string {
  return `forgotten.${createHash('sha256').update(session).digest('hex').slice(0, 40)}`;
}

/** The session that is archived by a record's key, or `undefined` for any other key. */
export function sessionOfArchivedKey(key: string): Token | undefined {
  const [kind, session, ...more] = key.split('.');
  return kind === 'archived' && more.length === 0 && isToken(session) ? session : undefined;
}

/** The learning that a vector's subject names, or `undefined`. */
export function learningOfVectorSubject(subject: string): Token | undefined {
  const learning = subject.split('.').at(-1);
  return isToken(learning) ? learning : undefined;
}

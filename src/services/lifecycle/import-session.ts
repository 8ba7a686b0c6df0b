import { LRUCache } from 'lru-cache';
import { checkedRequest } from '../../contracts/checked.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import { type Token, token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { newestNamed, type StoredEvent } from '../../contracts/session-events.js';
import { placed } from '../../contracts/session-file.js';
import { TOOLS, type ToolArguments } from '../../contracts/tool-requests.js';
import { eventsOf, PagedCopy } from '../../engine/folding/log-copy.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { Clock } from '../../engine/ports/clients.js';
import { type HeldLease, holdLease, isHeld, type LeaseStore } from '../../engine/ports/lease-store.js';
import type { SessionActivity, SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import type { Charter } from '../../memory/session/charter.js';
import { evolve } from '../../memory/session/evolve-session.js';
import { checkForeign } from '../../memory/session/foreign-events.js';
import { emptyState } from '../../memory/session/session-state.js';
import { hashOf } from '../../shared/hash.js';
import { importing } from '../common/open-sessions.js';
import {
  type Archiver,
  archivedSince,
  importDone,
  importReady,
  type OwnsRecord,
  releaseName,
} from './archive-session.js';
import { SETTLED_MS } from './forget-session.js';

/**
 * Answers `session-import`: imports a file of events, in pages.
 *
 * 1. Record the import; all processes notice, hold back results of the name, and do not show it as a session.
 * 2. Raise the dispatch numbers above those in the file, so that new results count as newer.
 * 3. Append the events with translated sequences, and compare those that exist.
 * 4. Remove the record: it is a session now.
 *
 * An interrupted import is resumed with the same file, or forgotten.
 */
export interface ImportOptions extends NewSessionPorts {
  readonly log: NewSessionPorts['log'] & Pick<SessionLog, 'append'>;
  /** Raises the dispatch numbers for at most `mostMs`, and returns the number reached. */
  readonly raiseDispatches: (to: number, mostMs: number) => Promise<number>;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly pause: (ms: number) => Promise<void>;
}

type Asked = ToolArguments<'session-import'>;
type Reply = ToolReply<'session-import'>;

/** Gap above the highest number in the file, as a repair leaves it. */
const MARGIN = 1200;
const RAISE_MS = 1500;
const LEASE_MS = 5000;
/** Poll interval for the lease, and the longest wait: the previous request may take some seconds. */
const LOOK_MS = 50;
const MOST_WAITED_MS = 6000;
/** Limit for raising numbers, which takes minutes and cannot be undone. */
const MOST_RAISED = 10_000_000;
const OTHER_NAME = 'import the file under another name, with --as NAME';
/** Cached copies; others read their sequences again. */
const MAX_COPIES = 8;

export function createSessionImport(options: ImportOptions): (request: unknown) => Promise<Reply> {
  const { log, lifecycle, leases, clock, newId, pause } = options;
  const copies = new LRUCache<string, PagedCopy>({ max: MAX_COPIES });
  const importOf = (session: Token) => {
    const record = lifecycle.archived(session);
    return record?.importing && { at: record.at, ...record.importing };
  };

  /** Reserves the name, unless it is reserved for this file. */
  async function take(session: Token, { file, dispatches }: Asked): Promise<void> {
    if (importOf(session) !== undefined) return;
    await requireFree(options, session, OTHER_NAME);
    const at = archivedSince(lifecycle.forgotten(session), clock());
    await lifecycle.change(session, (there) =>
      there === undefined ? { at, importing: { file, dispatches, ready: false } } : 'keep',
    );
    await pause(SETTLED_MS);
    // A result may have been in flight.
    if ((await log.newest(session)) === 0) return;
    await lifecycle.change(session, releaseName(mine({ file, dispatches })));
    throw exists(session, OTHER_NAME);
  }

  async function begin(session: Token, asked: Asked): Promise<Reply> {
    const to = asked.dispatches === 0 ? 0 : asked.dispatches + MARGIN;
    if (to > 0) requireNear(to, await options.raiseDispatches(to, 0));
    await take(session, asked);
    const dispatches = to === 0 ? 0 : await options.raiseDispatches(to, RAISE_MS);
    if (dispatches < to) return { session, state: 'numbers', events: 0, dispatches };
    if (!(await lifecycle.change(session, importReady(mine(asked))))) throw importing(session);
    return { session, state: 'importing', events: 0 };
  }

  async function handle(session: Token, asked: Asked): Promise<Reply> {
    const { done } = asked;
    const events = (asked.events ?? []).map(placed);
    // Refreshes this process' view of the record.
    await lifecycle.change(session, () => 'keep');
    const found = importOf(session);
    if (lifecycle.forgotten(session)?.status === 'forgetting') throw importing(session);
    if (found !== undefined && !isOf(found, asked)) throw importing(session);
    if (found?.ready !== true) {
      if (events.length === 0 && !done) return begin(session, asked);
      if ((await log.newest(session)) > 0) throw exists(session, OTHER_NAME);
      throw importing(session);
    }
    // The key changes if the import was forgotten and started again.
    const key = `${session} ${found.at}`;
    if (done) {
      if (!(await becomeSession(options, session, mine(asked)))) throw importing(session);
      copies.delete(key);
      return { session, state: 'done', events: 0 };
    }
    const copy = copies.get(key) ?? new PagedCopy(log, session, `import:${found.at}`);
    copies.set(key, copy);
    requireNumbers(events, asked.dispatches);
    for (const event of events) await checkForeign(event, Date.parse(clock()));
    const first = events[0]?.sequence ?? 1;
    await copy.catchUp(first - 1);
    if (first - 1 <= copy.count && (await copy.add(events)) === 'differs') {
      copies.delete(key);
      throw new ThroughlineError(
        'conflict',
        `session ${session} holds something else than the file, near event ${first}: remove it with "throughline session rm ${session}", and import the file again`,
      );
    }
    return { session, state: 'importing', events: events.length === 0 ? 0 : copy.count };
  }

  return async (request) => {
    const { session: name, ...asked } = checkedRequest(TOOLS['session-import'].request, request);
    const session = token(name, 'session');
    const lease = await leased(session);
    try {
      return await handle(session, asked);
    } finally {
      await lease.release();
    }
  };

  /** Serialises the requests of an import across processes: a caller may repeat one that is still running. */
  async function leased(session: Token): Promise<HeldLease> {
    const claim = { holder: newId(), ttlMs: LEASE_MS, now: clock, what: `the import of session ${session}` };
    for (let waited = 0; ; waited += LOOK_MS) {
      const lease = await holdLease(leases, `import.${hashOf(session)}`, claim);
      if (isHeld(lease)) return lease;
      if (waited >= MOST_WAITED_MS)
        throw new ThroughlineError('unavailable', `session ${session} is being imported by another request`);
      await pause(LOOK_MS);
    }
  }
}

function mine(asked: Pick<Asked, 'file' | 'dispatches'>): OwnsRecord {
  return (there) => isOf(there?.importing, asked);
}

function isOf(
  found: Archived['importing'],
  { file, dispatches }: Pick<Asked, 'file' | 'dispatches'>,
): boolean {
  return found?.file === file && found.dispatches === dispatches;
}

/** @throws ThroughlineError `schema_invalid` if the dispatch numbers would have to be raised too far */
function requireNear(to: number, now: number): void {
  if (to - MARGIN - now <= MOST_RAISED) return;
  throw wrong(
    'dispatches',
    `is ${to - MARGIN}, but the newest result here has number ${now}, and an import moves numbers up by at most ${MOST_RAISED}: bring the whole installation over with "throughline admin backup" and "throughline admin restore", which keep its numbers`,
  );
}

/** @throws ThroughlineError `schema_invalid` unless events are consecutive and refer to no dispatch above `dispatches` */
function requireNumbers(events: readonly StoredEvent[], dispatches: number): void {
  const [first] = events;
  for (const [index, { sequence, event }] of events.entries()) {
    const next = (first?.sequence ?? 0) + index;
    if (sequence !== next)
      throw wrong(
        `events.${index}.sequence`,
        `is ${sequence}, and must be ${next}: send the events in a row`,
      );
    const named = newestNamed(event)?.sequence ?? 0;
    if (named > dispatches)
      throw wrong(
        `events.${index}.event`,
        `names dispatch ${named}: give the highest one of the file as dispatches, not ${dispatches}`,
      );
  }
}

function wrong(field: string, message: string): ThroughlineError {
  return new ThroughlineError('schema_invalid', `${field}: ${message}`, { details: { fields: [field] } });
}

export interface NewSessionPorts {
  readonly log: Pick<SessionLog, 'read'> & Pick<SessionActivity, 'newest'>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten' | 'change'>;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly archiver: Pick<Archiver, 'settle'>;
}

/**
 * Requires that a name is free: no events, no snapshot, no record.
 *
 * @param fix advice in the error
 * @throws ThroughlineError `session_exists`, `session_importing`, `session_forgotten` while it is being forgotten
 */
export async function requireFree(
  { log, lifecycle, reader }: Pick<NewSessionPorts, 'log' | 'lifecycle' | 'reader'>,
  session: Token,
  fix: string,
): Promise<void> {
  const record = lifecycle.archived(session);
  if (record?.importing !== undefined) throw importing(session);
  if (record !== undefined || (await log.newest(session)) > 0) throw exists(session, fix);
  if ((await reader.load(session)).folded.state.sequence > 0) throw exists(session, fix);
}

/**
 * Turns an import into a session: archived if its events say so, atomically, so that no result gets in between.
 *
 * @returns `false` if the record does not belong to the import: another process has done it, or the session was forgotten
 */
export async function becomeSession(
  ports: NewSessionPorts,
  session: Token,
  ownsRecord: OwnsRecord,
): Promise<boolean> {
  const { lifecycle, archiver } = ports;
  const before = lifecycle.forgotten(session);
  const archived = await archivedIn(ports, session);
  const archiving = archived && { ...archived, at: archivedSince(before, archived.at) };
  const isDone = await lifecycle.change(session, importDone(ownsRecord, archiving));
  if (isDone && archiving !== undefined) await archiver.settle(session);
  return isDone;
}

const SAYING_ARCHIVED: ReadonlySet<string> = new Set([
  'session.checkpoint',
  'session.archived',
  'session.reopened',
]);

/** Folds only the events that archive: the log may be long, and is not a session yet. */
async function archivedIn(
  { log }: Pick<NewSessionPorts, 'log'>,
  session: Token,
): Promise<Charter['archived']> {
  // A read by type may be served by a lagging replica; after this call reads are up to date.
  await log.newest(session);
  const state = emptyState(session);
  for await (const stored of eventsOf(log, session))
    if (SAYING_ARCHIVED.has(stored.event.type)) evolve(state, stored);
  return state.charter.archived;
}

export function exists(session: Token, fix: string): ThroughlineError {
  return new ThroughlineError('session_exists', `session ${session} exists already: ${fix}`, {
    details: { session },
  });
}

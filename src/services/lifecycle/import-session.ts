import { LRUCache } from 'lru-cache';
import { checkedRequest } from '../../contracts/checked.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import { type Token, token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { newestNamed, type StoredEvent } from '../../contracts/session-events.js';
import { placed } from '../../contracts/session-file.js';
import { TOOLS, type ToolArguments } from '../../contracts/tool-requests.js';
import { PagedCopy } from '../../engine/folding/log-copy.js';
import { type HeldLease, holdLease, isHeld, type LeaseStore } from '../../engine/ports/lease-store.js';
import type { Clock } from '../../engine/ports/logger.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import { checkForeign } from '../../memory/session/foreign-events.js';
import { hashOf } from '../../shared/hash.js';
import { archivedSince, asFree, asReady, type IsMine } from '../common/archived-record.js';
import { importing } from '../common/forgotten-results.js';
import { SETTLED_MS } from './forget-session.js';
import { becomeSession, exists, type NewSessionPorts, requireFree } from './new-session.js';

/**
 * Answers `session-import`: a file of events becomes a session, a page at a time.
 *
 * 1. It is recorded as being imported, and all processes notice: results of it are held back, and to nobody is it a session yet.
 * 2. The numbers of dispatches are moved up beyond those that the file names, so that new results count as newer.
 * 3. The events are appended, each naming the sequences that stand here for those of the file. What is there is compared.
 * 4. The record goes, and from then on it is a session.
 *
 * What was cut short is gone on with by the same file, or forgotten.
 */
export interface ImportOptions extends NewSessionPorts {
  readonly log: NewSessionPorts['log'] & Pick<SessionLog, 'append'>;
  /** Moves the numbers of dispatches up for so long, and gives how far they are. */
  readonly raiseDispatches: (to: number, mostMs: number) => Promise<number>;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  /** A new unique id for each lease. */
  readonly newId: () => string;
  /** Waits so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>;
}

type Asked = ToolArguments<'session-import'>;
type Reply = ToolReply<'session-import'>;

/** Numbers above the highest that the file names, as a repair leaves them. */
const MARGIN = 1200;
const RAISE_MS = 1500;
const LEASE_MS = 5000;
/** Between two attempts to claim the lease, and how long a request waits for it: the one before may take some seconds. */
const LOOK_MS = 50;
const MOST_WAITED_MS = 6000;
/** Numbers that an import moves up, which takes some minutes and cannot be taken back. */
const MOST_RAISED = 10_000_000;
const OTHER_NAME = 'import the file under another name, with --as NAME';
/** Imports whose sequences are remembered; of others they are read again. */
const MAX_COPIES = 8;

export function createSessionImport(options: ImportOptions): (request: unknown) => Promise<Reply> {
  const { log, lifecycle, leases, clock, newId, pause } = options;
  const copies = new LRUCache<string, PagedCopy>({ max: MAX_COPIES });
  const importOf = (session: Token) => {
    const record = lifecycle.archived(session);
    return record?.importing && { at: record.at, ...record.importing };
  };

  /** The name is taken, unless it was taken for this file. */
  async function take(session: Token, { file, dispatches }: Asked): Promise<void> {
    if (importOf(session) !== undefined) return;
    await requireFree(options, session, OTHER_NAME);
    const at = archivedSince(lifecycle.forgotten(session), clock());
    await lifecycle.change(session, (there) =>
      there === undefined ? { at, importing: { file, dispatches, ready: false } } : 'keep',
    );
    await pause(SETTLED_MS);
    // A result may have been on its way.
    if ((await log.newest(session)) === 0) return;
    await lifecycle.change(session, asFree(mine({ file, dispatches })));
    throw exists(session, OTHER_NAME);
  }

  async function begin(session: Token, asked: Asked): Promise<Reply> {
    const to = asked.dispatches === 0 ? 0 : asked.dispatches + MARGIN;
    if (to > 0) requireNear(to, await options.raiseDispatches(to, 0));
    await take(session, asked);
    const dispatches = to === 0 ? 0 : await options.raiseDispatches(to, RAISE_MS);
    if (dispatches < to) return { session, state: 'numbers', events: 0, dispatches };
    if (!(await lifecycle.change(session, asReady(mine(asked))))) throw importing(session);
    return { session, state: 'importing', events: 0 };
  }

  async function handle(session: Token, asked: Asked): Promise<Reply> {
    const { done } = asked;
    const events = (asked.events ?? []).map(placed);
    // What this process knows may be of a moment ago.
    await lifecycle.change(session, () => 'keep');
    const found = importOf(session);
    if (lifecycle.forgotten(session)?.status === 'forgetting') throw importing(session);
    if (found !== undefined && !isOf(found, asked)) throw importing(session);
    if (found?.ready !== true) {
      if (events.length === 0 && !done) return begin(session, asked);
      if ((await log.newest(session)) > 0) throw exists(session, OTHER_NAME);
      throw importing(session);
    }
    // Of an import that was forgotten meanwhile, and began again, nothing is known.
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

  /** One request of a session at a time, in all processes: a caller may have asked again before it was answered. */
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

function mine(asked: Pick<Asked, 'file' | 'dispatches'>): IsMine {
  return (there) => isOf(there?.importing, asked);
}

/** Returns true if a name is taken for this file. */
function isOf(
  found: Archived['importing'],
  { file, dispatches }: Pick<Asked, 'file' | 'dispatches'>,
): boolean {
  return found?.file === file && found.dispatches === dispatches;
}

/** @throws ThroughlineError `schema_invalid` where the numbers of dispatches would have to be moved up too far */
function requireNear(to: number, now: number): void {
  if (to - MARGIN - now <= MOST_RAISED) return;
  throw wrong(
    'dispatches',
    `is ${to - MARGIN}, but the newest result here has number ${now}, and an import moves numbers up by at most ${MOST_RAISED}: bring the whole installation over with "throughline admin backup" and "throughline admin restore", which keep its numbers`,
  );
}

/** @throws ThroughlineError `schema_invalid` unless events are numbered in a row, and name no higher dispatch than was said */
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

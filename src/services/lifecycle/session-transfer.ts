import { z } from 'zod';
import { cursorOf, readCursor } from '../../contracts/checked.js';
import { noSuchSession, ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { EventOf, SessionEvent, StoredEvent } from '../../contracts/session-events.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { SessionLog, SnapshotStore } from '../../engine/ports/session-log.js';
import { evolve } from '../../memory/session/evolve-session.js';
import { emptyState } from '../../memory/session/session-state.js';
import { generationOf } from '../../nats/stores/nats-session-lifecycle.js';
import type { Handler } from '../common/service-shell.js';
import type { Archiver } from './archive-session.js';

interface ExportOptions {
  readonly log: Pick<SessionLog, 'read' | 'newest'>;
  readonly snapshots: Pick<SnapshotStore, 'loadAtOrBefore'>;
  readonly maxReplyBytes: () => number;
}

const AROUND_BYTES = 1024;
const USUAL_BYTES = 256 * 1024;
const PAGE = 500;

/** The cursor: position, end, and first sequence of the log, which changes when the log is compacted or replaced. */
const PLACE = [z.literal('export'), z.int().nonnegative(), z.int().positive(), z.int().positive()] as const;

/** Answers `session-export`: the events up to the newest at the first page; fails if the log is replaced meanwhile. */
export function createSessionExport({
  log,
  snapshots,
  maxReplyBytes,
}: ExportOptions): Handler<'tool.session-export'> {
  /** Refuses a log whose first events are gone: a snapshot from before its first event shows that. */
  async function requireWhole(session: Token, first: StoredEvent | undefined): Promise<void> {
    if (first?.event.type === 'session.checkpoint') return;
    const before = (first?.sequence ?? Number.MAX_SAFE_INTEGER) - 1;
    if ((await snapshots.loadAtOrBefore(session, before)) === undefined) return;
    throw new ThroughlineError(
      'not_found',
      `the log of session ${session} is gone, or its first events are: restore a backup`,
      { details: { session } },
    );
  }

  return async ({ session, cursor }) => {
    // Makes the read see everything that the process of the previous page saw.
    const newest = await log.newest(session);
    const begin = async () => (await log.read(session, { after: 0, limit: 1 })).through;
    const [, after, through, begun] =
      cursor === undefined ? (['export', 0, newest, await begin()] as const) : readCursor(cursor, PLACE);
    const page = await log.read(session, { after, through, limit: PAGE });
    if (cursor === undefined) await requireWhole(session, page.events[0]);
    if (through === 0) throw noSuchSession(session);
    // Events of the page may have been removed before it was read: the oldest ones go first.
    if ((await begin()) !== begun)
      throw new ThroughlineError(
        'conflict',
        `session ${session} was archived or forgotten while it was exported: export it again`,
      );
    const events = fitting(page.events, Math.min(USUAL_BYTES, maxReplyBytes() - AROUND_BYTES));
    const isShort = events.length < page.events.length;
    const isEnd = page.events.length + page.skipped < PAGE;
    const last = isShort ? (events.at(-1)?.sequence ?? after) : isEnd ? through : page.through;
    return {
      session,
      events: events.map((stored) => ({ ...stored, event: { ...stored.event } })),
      // A page that was cut leaves them to the next one.
      skipped: isShort ? 0 : page.skipped,
      sequence: through,
      ...(last < through && { next: cursorOf('export', last, through, begun) }),
    };
  };
}

/** Returns the first events that fit `most` bytes, at least one. */
function fitting(events: readonly StoredEvent[], most: number): readonly StoredEvent[] {
  let bytes = 0;
  const end = events.findIndex((event, index) => {
    bytes += Buffer.byteLength(JSON.stringify(event)) + 1;
    return index > 0 && bytes > most;
  });
  return end < 0 ? events : events.slice(0, end);
}

interface ImportOptions {
  readonly log: Pick<SessionLog, 'read' | 'append' | 'newest'>;
  readonly lifecycle: Pick<SessionLifecycle, 'forgotten' | 'change'>;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly archiver: Pick<Archiver, 'settle'>;
}

/**
 * Answers `session-import`. The first request makes the session: its log begins with a checkpoint of the state that the caller has
 * folded from a file, in one append to an empty log. Later ones add the events of the file as history, which changes nothing: an
 * import that is cut off there has lost only lines of the timeline.
 */
export function createSessionImport({
  log,
  lifecycle,
  reader,
  archiver,
}: ImportOptions): Handler<'tool.session-import'> {
  async function begin(session: Token, checkpoint: EventOf<'session.checkpoint'>): Promise<void> {
    // Refreshes this process' view of the record, and refuses a session that is being forgotten.
    await lifecycle.change(session, (there) => there);
    generationOf(lifecycle, session);
    requireSettled(session, checkpoint);
    const { state } = (await reader.load(session)).folded;
    if ((await log.newest(session)) === 0 && state.sequence === 0)
      await log.append(session, checkpoint, { expectedSequence: 0 });
  }

  /** Returns the sequence of the checkpoint that this import has stored, also if the answer to that request was lost. */
  async function beginningOf(session: Token, id: string): Promise<number> {
    const [first] = (await log.read(session, { after: 0, limit: 1 })).events;
    if (first?.event.type === 'session.checkpoint' && first.event.id === id) return first.sequence;
    throw new ThroughlineError(
      'session_exists',
      `session ${session} exists already: for a copy, import a file of "throughline session export ${session}" with --as NAME`,
      { details: { session } },
    );
  }

  return async ({ session, id, checkpoint, history, from }) => {
    if (checkpoint !== undefined) await begin(session, { ...checkpoint, id });
    let sequence = await beginningOf(session, id);
    // A process that was killed behind the append has not recorded that the session is archived.
    if (checkpoint !== undefined) await archiver.settle(session);
    for (const [index, event] of history.entries()) {
      // The server discards an event of a request that is repeated.
      const appended = await log.append(session, asHistory(event), { messageId: `${id}:${from + index}` });
      if (appended.outcome === 'appended') sequence = appended.sequence;
    }
    return { session, sequence };
  };
}

/** @param sequence of the event that it is an overwritten copy of, in the same log */
export function asHistory(event: SessionEvent, sequence?: number): SessionEvent {
  const past = event.type === 'session.history' ? event.data.event : { ...event };
  const data = { event: past, ...(sequence !== undefined && { sequence }) };
  return { v: EVENT_VERSION, type: 'session.history', at: event.at, data };
}

/** @throws ThroughlineError `schema_invalid` if the state cannot be read, or names dispatches that new results could be taken for */
function requireSettled(session: Token, event: EventOf<'session.checkpoint'>): void {
  const { dispatches } = evolve(emptyState(session), { sequence: 1, event });
  if (dispatches.recent().length === 0 && dispatches.newest() <= 0) return;
  throw new ThroughlineError(
    'schema_invalid',
    'checkpoint: has results that are not settled: use "throughline session import", which settles them',
  );
}

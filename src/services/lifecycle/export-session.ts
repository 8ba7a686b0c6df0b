import { z } from 'zod';
import { noSuchSession, ThroughlineError } from '../../contracts/errors.js';
import { cursorOf, readCursor } from '../../contracts/list-limits.js';
import type { Token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/requests.js';
import type { StoredEvent } from '../../contracts/session-events.js';
import type { SessionActivity, SessionLog, SnapshotStore } from '../../engine/ports/session-log.js';
import type { Asked } from '../common/service-shell.js';

interface ExportOptions {
  readonly log: Pick<SessionLog, 'read'> & Pick<SessionActivity, 'newest'>;
  readonly snapshots: Pick<SnapshotStore, 'loadAtOrBefore'>;
  readonly maxReplyBytes: () => number;
}

const AROUND_BYTES = 1024;
const USUAL_BYTES = 256 * 1024;
const PAGE = 500;

/** The cursor: position, end, and first sequence of the log, which changes when the log is compacted or replaced. */
const PLACE = [z.literal('export'), z.int().nonnegative(), z.int().positive(), z.int().positive()] as const;

/**
 * Answers `session-export`: the events of a session up to the newest one at the first page. The export fails if the log is
 * compacted or replaced meanwhile.
 */
export function createSessionExport({ log, snapshots, maxReplyBytes }: ExportOptions) {
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

  return async ({ session, cursor }: Asked<'tool.session-export'>): Promise<ToolReply<'session-export'>> => {
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
      events: events.map(({ sequence, after: behind, event }) => ({
        sequence,
        ...(behind !== undefined && { after: behind }),
        event: { ...event },
      })),
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
  const end = events.findIndex((each, index) => {
    bytes += Buffer.byteLength(JSON.stringify(each)) + 1;
    return index > 0 && bytes > most;
  });
  return end < 0 ? events : events.slice(0, end);
}

import { z } from 'zod';
import { checkedRequest } from '../../contracts/checked.js';
import { noSuchSession, ThroughlineError } from '../../contracts/errors.js';
import { cursorOf, readCursor } from '../../contracts/list-limits.js';
import { type Token, token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import type { StoredEvent } from '../../contracts/session-events.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import { behindCarried, carriedLog, lostBeginning } from '../../engine/folding/whole-log.js';
import type { Logger } from '../../engine/ports/clients.js';
import type { SessionActivity } from '../../engine/ports/session-lifecycle.js';
import type { ReplacingSnapshotStore, SessionLog } from '../../engine/ports/session-log.js';
import type { SessionState } from '../../memory/session/session-state.js';

/**
 * Answers `session-export`: the events of a session up to the newest one at the first page. If its first events are gone, a
 * checkpoint of the snapshot replaces them. The export fails if the log is truncated or replaced meanwhile.
 */
interface ExportOptions {
  readonly log: Pick<SessionLog, 'read'> & Pick<SessionActivity, 'newest'>;
  readonly snapshots: Pick<ReplacingSnapshotStore, 'load'>;
  readonly logger: Logger;
  readonly maxReplyBytes: () => number;
}

const AROUND_BYTES = 1024;
const USUAL_BYTES = 256 * 1024;
/** Messages per read, adapted to the number that fitted the last page. */
const FIRST_READ = 64;
const MOST_READ = 500;

/** Caches a look at a long log, which takes longer than a caller waits. Shorter than forgetting a session takes. */
const REMEMBERED_MS = 1500;

/**
 * The cursor: position, end, messages per read, epoch of the log, and the position of the state in a prefixed checkpoint
 * (zeros for none).
 */
const PLACE = [
  z.literal('export'),
  z.int().nonnegative(),
  z.int().positive(),
  z.int().min(1).max(MOST_READ),
  z.string(),
  z.int().nonnegative(),
  z.int().nonnegative(),
  z.int().nonnegative(),
] as const;

export function createSessionExport({ log, snapshots, logger, maxReplyBytes }: ExportOptions) {
  const looks = new Map<Token, Promise<SessionState | undefined>>();

  function lost(session: Token): Promise<SessionState | undefined> {
    const running = looks.get(session);
    if (running !== undefined) return running;
    const look = lostBeginning({ log, snapshots, logger }, session);
    looks.set(session, look);
    const forget = () => setTimeout(() => looks.delete(session), REMEMBERED_MS).unref();
    look.then(forget, forget);
    return look;
  }

  async function begun(session: Token) {
    const newest = await log.newest(session);
    const kept = await lost(session);
    const { sequence = 0, lastEvent = 0, lastCommand = 0 } = kept ?? {};
    const through = Math.max(newest, sequence);
    return {
      from: kept === undefined ? log : carriedLog(log, kept),
      place: ['export', 0, through, FIRST_READ, '', sequence, lastEvent, lastCommand] as const,
    };
  }

  return async (request: unknown): Promise<ToolReply<'session-export'>> => {
    const { session: name, cursor } = checkedRequest(TOOLS['session-export'].request, request);
    const session = token(name, 'session');
    // Makes the read see everything that the process of the previous page saw.
    if (cursor !== undefined) await log.newest(session);
    const { from, place } =
      cursor === undefined ? await begun(session) : { from: log, place: readCursor(cursor, PLACE) };
    const [, after, through, limit, epoch, sequence, lastEvent, lastCommand] = place;
    if (through === 0) throw noSuchSession(session);
    const read = await from.read(session, { after, through, limit });
    // Events behind the first page may also refer to events that the checkpoint replaced.
    const carried = { sequence, lastEvent, lastCommand };
    const isBehind = cursor !== undefined && sequence > 0;
    const page = isBehind
      ? { ...read, events: read.events.map((each) => behindCarried(each, carried)) }
      : read;
    const known = page.epoch ?? '';
    const reached = page.events.length + page.skipped < limit ? through : page.through;
    const isOther = cursor !== undefined && known !== epoch;
    if (isOther || isCut(page.events, after) || (page.events.length + page.skipped === 0 && after < through))
      throw changed(session);
    const events = fitting(page.events, Math.min(USUAL_BYTES, maxReplyBytes() - AROUND_BYTES));
    const isShort = events.length < page.events.length;
    const last = isShort ? (events.at(-1)?.sequence ?? after) : reached;
    const often = Math.max(1, Math.min(MOST_READ, 2 * events.length));
    return {
      session,
      events: events.map(({ sequence, after: behind, decidedOn, event }) => ({
        sequence,
        ...(behind !== undefined && { after: behind }),
        ...(decidedOn !== undefined && { decidedOn }),
        event: { ...event },
      })),
      // A page that was cut leaves them to the next one.
      skipped: isShort ? 0 : page.skipped,
      sequence: through,
      ...(last < through && {
        next: cursorOf('export', last, through, often, known, sequence, lastEvent, lastCommand),
      }),
    };
  };
}

/** Returns true if events between two pages were removed: the checkpoint then covers more than was read. */
function isCut(events: readonly StoredEvent[], read: number): boolean {
  const [first] = events;
  return read > 0 && first?.event.type === 'session.checkpoint' && (first.after ?? read) > read;
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

function changed(session: Token): ThroughlineError {
  return new ThroughlineError(
    'conflict',
    `session ${session} was archived, moved or forgotten while it was exported: export it again`,
  );
}

import { ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { EventOf } from '../../contracts/session-events.js';
import type { SessionReader, SessionSnapshotWriter } from '../../folding/session-folding.js';
import type { Clock } from '../../ports/clock.js';
import type { EventRemoval, RemovalOptions } from '../../ports/event-log.js';
import type { SessionLifecycle } from '../../ports/session-lifecycle.js';
import type { SessionLog } from '../../ports/session-log.js';
import { checkpointOf } from '../../session/checkpoint.js';
import type { SessionState } from '../../session/session-state.js';
import { archivedSince, asArchived, asReopened } from '../common/archived-record.js';

/**
 * What archiving means beside its event, in this order: it is recorded, so that extractors reject results; a checkpoint
 * with the whole state is appended, with nothing in between; the snapshot is written; and what came before the checkpoint
 * is removed. Reopening removes the record.
 *
 * Each step is found done, or done again: whatever was cut short, asking again goes on with it, and nothing is removed
 * before what stands for it is stored. Where sessions share files, removing takes milliseconds for each event.
 */
export interface ArchiverOptions {
  readonly log: SessionLog & EventRemoval;
  readonly reader: SessionReader;
  readonly writer: Pick<SessionSnapshotWriter, 'write'>;
  readonly lifecycle: Pick<SessionLifecycle, 'forgotten' | 'change'>;
  readonly clock: Clock;
  /** A new unique id for each event. */
  readonly newId: () => string;
  /** The largest event that the server takes. */
  readonly maxEventBytes: () => number;
}

export interface Archiver {
  /** @throws ThroughlineError `too_large` where the state does not fit one message: then nothing must be removed */
  requireRoom(session: Token): Promise<void>;
  /**
   * Brings all that stands beside the log into line with whether the session is archived. A name that is being filled, or is
   * a pointer by now, is left alone.
   *
   * @param idleSince when it had moved last, where a rule of retention has archived it
   * @throws ThroughlineError as the ports do, and `removal.mayGoOn`; asked again, it goes on
   */
  settle(session: Token, idleSince?: string, removal?: RemovalOptions): Promise<void>;
}

/** A session that takes no results changes seldom. */
const MAX_ATTEMPTS = 50;
/** What an event holds beside its state. */
const REST_BYTES = 1024;

export function createArchiver(options: ArchiverOptions): Archiver {
  const { log, reader, writer, lifecycle } = options;

  async function stateOf(session: Token): Promise<SessionState> {
    return (await reader.load(session)).folded.state;
  }

  /** Sequence of a checkpoint that holds everything up to the event by which the session was archived. */
  async function checkpointAfter(session: Token, archivedAt: number): Promise<number> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const state = await stateOf(session);
      if (state.checkpoint > archivedAt) return state.checkpoint;
      const event = checkpointEvent(options, state);
      const appended = await log.append(session, event, { expectedSequence: state.sequence });
      if (appended.outcome === 'appended') return appended.sequence;
    }
    throw new ThroughlineError('conflict', `session ${session} changes too fast to be archived; try again`);
  }

  async function compact(session: Token, removal?: RemovalOptions): Promise<void> {
    const { events } = await log.read(session, { after: 0, type: 'session.archived' });
    const archived = events.at(-1);
    let checkpoint: number;
    if (archived === undefined) {
      // It went before its checkpoint; where that was cut short, something in between may be left.
      checkpoint = (await stateOf(session)).checkpoint;
    } else {
      checkpoint = await checkpointAfter(session, archived.sequence);
      await writer.write((await reader.load(session)).folded);
    }
    if (checkpoint > 0) await log.removeBefore(session, checkpoint, removal);
  }

  return {
    async requireRoom(session) {
      const state = await stateOf(session);
      if (state.charter.archived === undefined && state.sequence > 0) checkpointEvent(options, state);
    },
    async settle(session, idleSince, removal) {
      const forgotten = lifecycle.forgotten(session);
      const { archived } = (await stateOf(session)).charter;
      if (archived === undefined) {
        await lifecycle.change(session, asReopened);
        return;
      }
      const at = archivedSince(forgotten, archived.at);
      if (await lifecycle.change(session, asArchived({ ...archived, at, idle_since: idleSince })))
        await compact(session, removal);
    },
  };
}

function checkpointEvent(
  { clock, newId, maxEventBytes }: ArchiverOptions,
  state: SessionState,
): EventOf<'session.checkpoint'> {
  const data = checkpointOf(state, 'archived');
  const most = maxEventBytes() - REST_BYTES;
  if (data.state.length > most) {
    throw new ThroughlineError(
      'too_large',
      `the state of session ${state.session} takes ${data.state.length} bytes packed, and a message holds ${most}: raise max_payload of the NATS server`,
      { details: { session: state.session, bytes: data.state.length, limit: most } },
    );
  }
  let at = clock();
  if (at < state.lastEventAt) at = state.lastEventAt;
  return { v: EVENT_VERSION, type: 'session.checkpoint', at, id: newId(), data };
}

import { randomUUID } from 'node:crypto';
import { beingForgotten, ThroughlineError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { EventOf } from '../../contracts/session-events.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import { type Clock, systemClock } from '../../engine/ports/clients.js';
import { generationOf, type SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { EventRemoval, SessionLog } from '../../engine/ports/session-log.js';
import { checkpointOf } from '../../memory/session/checkpoint.js';
import type { SessionState } from '../../memory/session/session-state.js';
import type { NatsPorts } from '../../nats/open-nats.js';

/**
 * Archives sessions after their event. `settle` records it, so that extractors reject results; reopening removes the record.
 * `compact` then replaces the log by a checkpoint with the whole state. Both can be run again, also by several processes at
 * once: the checkpoint counts only if it covers all results before it, and only then what it replaces is removed.
 */
interface ArchiverOptions {
  readonly log: Pick<SessionLog, 'append'> & EventRemoval;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten' | 'change'>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly maxEventBytes: () => number;
}

export interface Archiver {
  /** @throws ThroughlineError `too_large` if the state does not fit one message: then nothing may be removed */
  requireCheckpointFits(session: Token): Promise<void>;
  /** Brings the record in line with the session's events. Throws as the ports do, and `session_forgotten`. */
  settle(session: Token): Promise<void>;
  /**
   * Replaces the log of an archived session by a checkpoint. Does nothing if the session has moved meanwhile: its record still
   * says that it is pending.
   *
   * @param mayGoOn called before each removal of a shared log, which takes milliseconds per event; if it throws, the rest stays
   */
  compact(session: Token, mayGoOn?: () => void): Promise<void>;
}

const REST_BYTES = 1024;

export function createArchiver(options: ArchiverOptions): Archiver {
  const { log, reader, lifecycle } = options;
  const stateOf = async (session: Token) => (await reader.load(session)).folded.state;
  return {
    async requireCheckpointFits(session) {
      const state = await stateOf(session);
      if (state.charter.archived === undefined && state.sequence > 0) checkpointEvent(options, state);
    },
    async settle(session) {
      const generation = generationOf(lifecycle, session);
      for (let isBehind = true; isBehind; ) {
        const { archived } = (await stateOf(session)).charter;
        await lifecycle.change(session, (there) => {
          const { forgotten } = there;
          // A rule may have forgotten the session a moment ago.
          if (forgotten?.status === 'forgetting' || (forgotten?.at ?? '') !== generation)
            throw beingForgotten(session);
          if (there.archived?.at === archived?.at) return there;
          return {
            ...(archived && { archived: { ...archived, pending: true as const } }),
            ...(forgotten && { forgotten }),
          };
        });
        isBehind = (await stateOf(session)).charter.archived?.at !== archived?.at;
      }
    },
    async compact(session, mayGoOn) {
      const record = lifecycle.archived(session);
      const state = await stateOf(session);
      if (record === undefined || state.charter.archived === undefined) return;
      let { checkpoint } = state;
      if (checkpoint < state.sequence) {
        const event = checkpointEvent(options, state);
        const appended = await log.append(session, event, { expectedSequence: state.lastCommand });
        if (appended.outcome === 'conflict') return;
        // A result may have been stored between the state and its checkpoint: then everything stays, and it is tried again.
        ({ checkpoint } = await stateOf(session));
        if (checkpoint !== appended.sequence) return;
      }
      await log.removeBefore(session, checkpoint, mayGoOn);
      await lifecycle.change(session, (there) => {
        const { pending, ...archived } = there.archived ?? { at: '' };
        return pending && archived.at === record.at ? { ...there, archived } : there;
      });
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

/** Used if the server does not announce its maximum payload. */
const USUAL_PAYLOAD = 1024 * 1024;
/** Size of subject and headers. */
const ENVELOPE_BYTES = 4096;

export function openArchiver(
  { log, connection }: NatsPorts,
  reader: SessionReader,
  lifecycle: SessionLifecycle,
): Archiver {
  const maxEventBytes = () => (connection.info?.max_payload ?? USUAL_PAYLOAD) - ENVELOPE_BYTES;
  return createArchiver({ log, reader, lifecycle, clock: systemClock, newId: randomUUID, maxEventBytes });
}

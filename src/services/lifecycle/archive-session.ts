import { beingForgotten, ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { SessionCommander, SessionReader } from '../../engine/folding/session-folding.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { EventRemoval } from '../../engine/ports/session-log.js';
import { pause } from '../../engine/runtime/pacing.js';
import { type Checkpoint, checkpointOf } from '../../memory/session/checkpoint.js';
import { answer, append } from '../../memory/session/commands/session-decision.js';
import type { SessionState } from '../../memory/session/session-state.js';
import { maxPayload, type NatsConnection } from '../../nats/connection/connect-nats.js';
import { generationOf } from '../../nats/stores/nats-session-lifecycle.js';
import type { KnownSessions, Process } from '../common/process-parts.js';

/**
 * Archives sessions after their event. `settle` records it, so that extractors reject results; reopening removes the record.
 * `compact` then replaces the log by a checkpoint with the whole state. Both can be run again, also by several processes at
 * once: the checkpoint counts only if it covers all results before it, and only then what it replaces is removed.
 */
interface ArchiverOptions {
  readonly log: EventRemoval;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly command: SessionCommander;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'forgotten' | 'change'>;
  readonly maxEventBytes: () => number;
}

export interface Archiver {
  /** @throws ThroughlineError `too_large` if the state does not fit one message: then nothing may be removed */
  requireCheckpointFits(session: Token): Promise<void>;
  /** Archives a session that is still at a sequence, as a rule says; returns false for any other. */
  archive(session: Token, sequence: number, reason: string): Promise<boolean>;
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
  const { log, reader, command, lifecycle, maxEventBytes } = options;
  const stateOf = async (session: Token) => (await reader.load(session)).folded.state;
  return {
    async requireCheckpointFits(session) {
      const state = await stateOf(session);
      if (state.charter.archived === undefined && state.sequence > 0) checkpoint(state, maxEventBytes());
    },
    async archive(session, sequence, reason) {
      await this.requireCheckpointFits(session);
      const { appended } = await command(session, 'session.archived', (state) =>
        state.charter.archived !== undefined || state.sequence !== sequence
          ? answer(() => ({}))
          : append({ type: 'session.archived', data: { reason } }, () => ({})),
      );
      if (appended !== undefined) await this.settle(session);
      return appended !== undefined;
    },
    async settle(session) {
      const generation = generationOf(lifecycle, session);
      for (let isStale = true; isStale; ) {
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
        isStale = (await stateOf(session)).charter.archived?.at !== archived?.at;
      }
    },
    async compact(session, mayGoOn) {
      const record = lifecycle.archived(session);
      const state = await stateOf(session);
      if (record === undefined || state.charter.archived === undefined) return;
      let begin = state.checkpoint;
      if (begin < state.sequence)
        await command(session, 'session.checkpoint', (now) => {
          // A result may be stored between the state and its checkpoint: then everything stays, and it is tried again.
          const reply = ({ checkpoint, lastCommand }: SessionState) => {
            begin = checkpoint === lastCommand ? checkpoint : 0;
            return {};
          };
          if (now.charter.archived === undefined) return answer(reply);
          return append({ type: 'session.checkpoint', data: checkpoint(now, maxEventBytes()) }, reply);
        });
      if (begin === 0) return;
      await log.removeBefore(session, begin, mayGoOn);
      await lifecycle.change(session, (there) => {
        const { pending, ...archived } = there.archived ?? { at: '' };
        return pending && archived.at === record.at ? { ...there, archived } : there;
      });
    },
  };
}

/** @throws ThroughlineError `too_large` for a state that does not fit one message */
export function checkpoint(
  state: SessionState,
  maxEventBytes: number,
  erased?: Checkpoint['data']['erased'],
): Checkpoint['data'] {
  const reason = erased === undefined ? 'archived' : 'erased';
  const data = { ...checkpointOf(state, reason), ...(erased && { erased }) };
  const most = maxEventBytes - REST_BYTES;
  if (data.state.length <= most) return data;
  throw new ThroughlineError(
    'too_large',
    `the state of session ${state.session} takes ${data.state.length} bytes packed, and a message holds ${most}: raise max_payload of the NATS server`,
    { details: { session: state.session, bytes: data.state.length, limit: most } },
  );
}

const ENVELOPE_BYTES = 4096;

export function lifecyclePorts(
  process: Pick<Process, 'nats' | 'sessions' | 'projects' | 'lifecycle' | 'logger'>,
  { table, feed, now }: KnownSessions,
) {
  const { nats, sessions, projects, lifecycle, logger } = process;
  const { reader, command } = sessions;
  const mostBytes = () => maxEventBytes(nats.connection);
  return {
    ...nats,
    ...sessions,
    table,
    lifecycle,
    archiver: createArchiver({ log: nats.log, reader, command, lifecycle, maxEventBytes: mostBytes }),
    now,
    pause,
    logger,
    projects: projects.reader,
    inBackground: projects.inBackground,
    caughtUp: () => feed.ready,
    store: nats.retention,
    clock: () => new Date(now()).toISOString(),
  };
}

export function maxEventBytes(connection: NatsConnection): number {
  return maxPayload(connection) - ENVELOPE_BYTES;
}

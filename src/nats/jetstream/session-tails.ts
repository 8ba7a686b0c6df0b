import {
  ALL_SESSIONS,
  ALL_SHARDS,
  PUBLISHED_EVENTS,
  publishedEvent,
  sessionOfStream,
  sessionOfSubject,
  sessionSubject,
  shardOfStream,
  streamOf,
  type Token,
} from '../../contracts/names.js';
import { SESSION_EVENTS, type StoredEvent } from '../../contracts/session-events.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { subscribeResiliently } from '../connection/resilient-subscription.js';
import type { NatsPorts } from '../open-nats.js';
import { eventsOf } from '../stores/nats-event-log.js';
import { readStream } from './direct-get.js';
import { listedStreams } from './list-streams.js';

export interface SessionsEvent {
  readonly session: Token;
  readonly stored: StoredEvent;
}

interface ReadTail {
  readonly events: readonly SessionsEvent[];
  readonly through: number;
  readonly isMore: boolean;
}

export interface StreamEnds {
  readonly last: Map<string, number>;
  /** Streams without a leader. */
  readonly leaderless: readonly string[];
}

/** Messages per read: bounds the memory for a stream with many new ones. */
const PAGE = 500;

/** Tails the logs of all sessions, by stream. */
export function sessionTails(
  { connection, layout }: Pick<NatsPorts, 'connection' | 'layout'>,
  timeoutMs: number,
) {
  const isSharded = layout.layout === 'sharded';
  return {
    /** Calls back with the stream's name soon after an event was published, possibly before it is stored. */
    listen(onEvent: (stream: string) => void): () => void {
      const subscription = subscribeResiliently(
        connection,
        PUBLISHED_EVENTS[layout.layout],
        ({ subject }) => {
          const event = publishedEvent(subject);
          if (event !== undefined) onEvent(streamOf(layout, event.session));
        },
      );
      return () => {
        if (!connection.isClosed()) subscription.close();
      };
    },

    async ends(): Promise<StreamEnds> {
      const isLog = (stream: string) => (isSharded ? shardOfStream : sessionOfStream)(stream) !== undefined;
      try {
        const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
        const { found, leaderless } = await listedStreams(jsm, isSharded ? ALL_SHARDS : ALL_SESSIONS);
        const logs = found.filter(({ config }) => isLog(config.name));
        return {
          last: new Map(logs.map(({ config, state }) => [config.name, state.last_seq])),
          leaderless: leaderless.filter(isLog),
        };
      } catch (error) {
        throw toThroughlineError(error, 'listing the logs of sessions');
      }
    },

    /** Reads the events of a stream after a sequence. Throws as `readStream`. */
    async read(stream: string, after: number): Promise<ReadTail> {
      const range = { from: after + 1, limit: PAGE };
      const messages = await readStream(connection, stream, ALL_SESSIONS, range, timeoutMs);
      const events = messages.flatMap((message) => {
        const session = sessionOfSubject(message.subject);
        if (session === undefined) return [];
        const places = { format: SESSION_EVENTS, subject: sessionSubject };
        return eventsOf([message], after, session, places).events.map((stored) => ({ session, stored }));
      });
      return { events, through: messages.at(-1)?.sequence ?? after, isMore: messages.length === PAGE };
    },
  };
}

import {
  ALL_SESSIONS,
  ALL_SHARDS,
  PUBLISHED_EVENTS,
  publishedEvent,
  sessionOfStream,
  sessionOfSubject,
  sessionSubject,
  shardOfStream,
  type Token,
} from '../../contracts/names.js';
import { SESSION_EVENTS, type StoredEvent } from '../../contracts/session-events.js';
import { streamOf } from '../../contracts/session-layout.js';
import { keepSubscribed } from '../connection/kept-subscription.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import type { NatsPorts } from '../open-nats.js';
import { eventsOf } from '../stores/stored-events.js';
import { readStream } from './direct-get.js';
import { listedStreams } from './list-streams.js';

/** An event of any session. */
export interface SessionsEvent {
  readonly session: Token;
  readonly stored: StoredEvent;
}

/** What was read of the end of a stream. */
interface ReadTail {
  /** Oldest first. */
  readonly events: readonly SessionsEvent[];
  /** Sequence up to which all is read. */
  readonly through: number;
  /** Whether there may be more behind it. */
  readonly isMore: boolean;
}

export interface StreamEnds {
  /** The last sequence of each stream. */
  readonly last: Map<string, number>;
  /** Streams that no server of the cluster leads now. */
  readonly leaderless: readonly string[];
}

/** What is read at a time: of a stream with much that is new, the memory stays bounded. */
const PAGE = 500;

/** The ends of the logs of all sessions, by stream: for those who follow everything that happens. */
export function sessionTails(
  { connection, layout }: Pick<NatsPorts, 'connection' | 'layout'>,
  timeoutMs: number,
) {
  const isSharded = layout.layout === 'sharded';
  return {
    /** Calls back with the name of the stream soon after an event was published; it may come before the event is stored. */
    listen(onEvent: (stream: string) => void): () => void {
      const subscription = keepSubscribed(connection, PUBLISHED_EVENTS[layout.layout], ({ subject }) => {
        const event = publishedEvent(subject);
        if (event !== undefined) onEvent(streamOf(layout, event.session));
      });
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

    /** The events of a stream after a sequence. Throws as `readStream`. */
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

import type { JetStreamManager, NatsConnection, StreamState } from 'nats';
import {
  DISPATCH_STREAM,
  EXTRACTOR_CONSUMER,
  isToken,
  LEARNER_CONSUMER,
  REJECTED_STREAM,
  type Token,
} from '../../contracts/names.js';
import type { AgedKind, AgedMessages, AgedStream } from '../../engine/ports/session-lifecycle.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { type Begin, batchFrom } from '../jetstream/direct-get.js';

interface AgedPorts {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  /** Deadline of one request to the server, in milliseconds. */
  readonly timeoutMs: number;
}

const STREAMS = {
  dispatches: { stream: DISPATCH_STREAM, prefix: 'dispatch' },
  rejected: { stream: REJECTED_STREAM, prefix: 'rejected' },
} as const;

const CONSUMERS = [
  { consumer: EXTRACTOR_CONSUMER, service: 'extractor' },
  { consumer: LEARNER_CONSUMER, service: 'learnings' },
] as const;

/** The sequence up to which a stream may be purged, and the reason if that is too little. */
interface Floor {
  readonly sequence: number;
  readonly held?: string;
}

/**
 * Removes messages by purges up to a sequence. Dispatches are purged only if both the extractor and the learner have acknowledged
 * them; if a consumer is missing, nothing is.
 */
export class NatsAgedMessages implements AgedMessages {
  readonly #ports: AgedPorts;

  constructor(ports: AgedPorts) {
    this.#ports = ports;
  }

  async look(kind: AgedKind): Promise<AgedStream> {
    const { jsm } = this.#ports;
    try {
      const info = await ifExists(jsm.streams.info(STREAMS[kind].stream));
      if (info === undefined) return NOTHING;
      const last = { sequence: info.state.last_seq };
      return this.#stream(kind, info.state, kind === 'dispatches' ? await this.#floor(info.state) : last);
    } catch (error) {
      throw toThroughlineError(error, `looking at ${kind}`);
    }
  }

  /** @param state from before the consumers were read */
  async #floor({ first_seq: first, last_seq: last, messages }: StreamState): Promise<Floor> {
    let floor: Floor = { sequence: last };
    for (const { consumer, service } of CONSUMERS) {
      const info = await ifExists(this.#ports.jsm.consumers.info(DISPATCH_STREAM, consumer));
      const fix = `start it with "throughline admin serve --only ${service}"`;
      if (info === undefined)
        return { sequence: 0, held: `the service ${service} has read no results: ${fix}` };
      // A filtered consumer acknowledges only its own messages.
      const isIdle = info.num_pending === 0 && info.num_ack_pending === 0;
      const done = isIdle ? last : info.ack_floor.stream_seq;
      if (done >= floor.sequence) continue;
      const waits = messages > 0 && done < first;
      floor = {
        sequence: done,
        ...(waits && { held: `${consumer} has not dealt with the oldest result: ${fix}` }),
      };
    }
    return floor;
  }

  #stream(kind: AgedKind, state: StreamState, floor: Floor): AgedStream {
    const { stream, prefix } = STREAMS[kind];
    const { jsm } = this.#ports;
    const filterOf = (session: Token | undefined) =>
      `${prefix}.${session === undefined ? '' : `${session}.`}>`;
    const doing = async <T>(what: string, ask: () => Promise<T>): Promise<T> => {
      try {
        return await ask();
      } catch (error) {
        throw toThroughlineError(error, `${what} ${kind}`);
      }
    };
    /** Returns the first sequence to keep; nothing is removed for 1 or less. */
    const cutOf = async (before: string, filter: string): Promise<number> => {
      const first = (await this.#at(stream, filter, { start_time: before })).first ?? state.last_seq + 1;
      return Math.min(first, floor.sequence + 1);
    };
    return {
      ...(state.messages > 0 && { oldest: new Date(state.first_ts).toISOString() }),
      ...(floor.held !== undefined && { held: floor.held }),
      sessions: () =>
        doing('counting', async () => {
          const counted = await jsm.streams.info(stream, { subjects_filter: `${prefix}.>` });
          const names = Object.keys(counted.state.subjects ?? {}).map((subject) => subject.split('.')[1]);
          return [...new Set(names)].filter(isToken);
        }),
      count: (before, session) =>
        doing('counting', async () => {
          const filter = filterOf(session);
          const cut = await cutOf(before, filter);
          if (cut <= state.first_seq) return 0;
          const [all, left] = await Promise.all([
            this.#at(stream, filter, { seq: state.first_seq }),
            this.#at(stream, filter, { seq: cut }),
          ]);
          return all.follow - left.follow;
        }),
      remove: (before, session) =>
        doing('removing', async () => {
          const filter = filterOf(session);
          const seq = await cutOf(before, filter);
          // A purge with sequence 0 would remove everything.
          if (seq <= state.first_seq || seq <= 1) return 0;
          const { purged } = await jsm.streams.purge(stream, { filter, seq });
          return purged;
        }),
    };
  }

  /** Returns the first message from a position on, and the number of messages from there. */
  async #at(
    stream: string,
    filter: string,
    begin: Begin,
  ): Promise<{ readonly first: number | undefined; readonly follow: number }> {
    const { connection, timeoutMs } = this.#ports;
    const one = { ...begin, batch: 1, next_by_subj: filter };
    const { messages, pending } = await batchFrom(connection, stream, one, timeoutMs);
    const [first] = messages;
    return { first: first?.sequence, follow: first === undefined ? 0 : pending + 1 };
  }
}

const NOTHING: AgedStream = {
  sessions: async () => [],
  count: async () => 0,
  remove: async () => 0,
};

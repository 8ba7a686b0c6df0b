import { DiscardPolicy, type JetStreamManager, type StreamConfig, type StreamInfo } from 'nats';
import { z } from 'zod';
import { jsonOf } from '../../contracts/event.js';
import {
  ALL_SESSIONS,
  movedSubjects,
  sessionOfStream,
  sessionStream,
  sessionSubjects,
  type Token,
} from '../../contracts/names.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { listStreams } from './list-streams.js';
import { ABOVE } from './topology.js';

/**
 * The streams that sessions have of their own, and what each says of where the session is: while sessions are moved to
 * shards, or back, every process asks for it there.
 *
 * - `own`: in this stream.
 * - `fenced`: in this stream, which takes no event: the session is about to be in its shard.
 * - `moved`: in its shard.
 * - `returning`: in its shard, whose events are being copied to this stream.
 */
export type SessionPlace = 'own' | 'fenced' | 'moved' | 'returning';

export interface OwnStream {
  readonly session: Token;
  readonly place: SessionPlace;
  readonly config: StreamConfig;
  /** Number of messages, and the first and the last sequence. */
  readonly messages: number;
  readonly first: number;
  readonly last: number;
}

const PLACE = 'throughline.place';
/** The limits that the stream had before it was fenced. */
const LIMITS = 'throughline.limits';

/** With these a stream refuses each message, and says so at once; what is in it stays. */
export const FENCE = { discard: DiscardPolicy.New, max_bytes: 1 } as const;

/** No event is stored under it. */
const NOTHING = 'session.none';

/**
 * A stream that was fenced, once all is in it that was on its way then. Replicas agree on a message after the limits have
 * let it through, and a fence does not wait for that. A purge does, and this one removes nothing.
 */
export async function drained(
  jsm: JetStreamManager,
  { config }: Pick<StreamInfo, 'config'>,
): Promise<StreamInfo> {
  if (config.num_replicas > 1) await jsm.streams.purge(config.name, { filter: NOTHING });
  return jsm.streams.info(config.name);
}

/** Says that the session is in its stream. */
const AS_OWN = { metadata: { [PLACE]: 'own', [LIMITS]: '' } };

const limits = z.object({ discard: z.enum(DiscardPolicy), max_bytes: z.number() });

/** What of a stream is changed while sessions are moved. */
export type StreamChange = Partial<Pick<StreamConfig, 'discard' | 'max_bytes' | 'subjects' | 'metadata'>>;

/** For the process that moves sessions: others only look. */
export interface StreamChanges {
  /** Makes sure, before something is removed, that it is the only one. */
  readonly claimed: () => Promise<void> | undefined;
  /** The same before a stream is changed. */
  readonly update: (name: string, change: StreamChange) => Promise<StreamInfo>;
}

export class OwnStreams {
  readonly #jsm: JetStreamManager;
  readonly #changes: StreamChanges;

  constructor(jsm: JetStreamManager, changes: StreamChanges) {
    this.#jsm = jsm;
    this.#changes = changes;
  }

  /** Where a session is; `undefined` where it has no stream of its own. */
  async place(session: Token): Promise<SessionPlace | undefined> {
    return (await this.find(session))?.place;
  }

  async find(session: Token): Promise<OwnStream | undefined> {
    try {
      return ownStream(session, await this.#jsm.streams.info(sessionStream(session)));
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return undefined;
      throw toThroughlineError(error, `asking where session ${session} is`);
    }
  }

  async list(): Promise<OwnStream[]> {
    const found: OwnStream[] = [];
    for (const filter of [ALL_SESSIONS, movedSubjects('*' as Token)]) {
      try {
        for (const info of await listStreams(this.#jsm, filter)) {
          const session = sessionOfStream(info.config.name);
          if (session !== undefined) found.push(ownStream(session, info));
        }
      } catch (error) {
        throw toThroughlineError(error, 'listing sessions');
      }
    }
    return found;
  }

  /** Has the stream take no event from now on, and says what is in it then. */
  async fence(stream: OwnStream): Promise<OwnStream> {
    const { config } = stream;
    if (stream.place === 'fenced') return this.#drained(stream);
    const { discard, max_bytes } = config;
    await this.#update(stream, {
      ...FENCE,
      metadata: { [PLACE]: 'fenced', [LIMITS]: JSON.stringify({ discard, max_bytes }) },
    });
    return this.#drained(stream);
  }

  async #drained(stream: OwnStream): Promise<OwnStream> {
    try {
      return ownStream(stream.session, await drained(this.#jsm, stream));
    } catch (error) {
      throw toThroughlineError(error, `moving session ${stream.session}`);
    }
  }

  /** Says that the session is in its shard. */
  moved(stream: OwnStream): Promise<OwnStream> {
    return this.#update(stream, { metadata: { [PLACE]: 'moved' } });
  }

  /** Has nobody publish to the stream by the subjects of its session any more; its shard is the only place for good. */
  released(stream: OwnStream): Promise<OwnStream> {
    return this.#update(stream, { subjects: [movedSubjects(stream.session)] });
  }

  /** Empties the stream, so that it takes the events of the shard above a sequence; none of its old ones comes again. */
  async returning(stream: OwnStream, above: number): Promise<OwnStream> {
    const { session, config } = stream;
    const marked = await this.#update(stream, { metadata: { [PLACE]: 'returning', [ABOVE]: String(above) } });
    await this.#purge(config.name, above + 1);
    return this.#update(marked, { ...limitsBefore(config), subjects: [sessionSubjects(session)] });
  }

  /** Drops what was copied to the stream: a copy that cannot be gone on with. */
  async clear({ config }: OwnStream): Promise<void> {
    await this.#purge(config.name);
  }

  /** Says that the session is in its stream again. */
  returned(stream: OwnStream): Promise<OwnStream> {
    return this.#update(stream, AS_OWN);
  }

  async remove({ config }: OwnStream): Promise<void> {
    try {
      await this.#changes.claimed();
      await this.#jsm.streams.delete(config.name);
    } catch (error) {
      if (apiCode(error) !== API.streamNotFound) throw toThroughlineError(error, `removing ${config.name}`);
    }
  }

  async #purge(name: string, seq?: number): Promise<void> {
    try {
      await this.#changes.claimed();
      await this.#jsm.streams.purge(name, seq === undefined ? undefined : { seq });
    } catch (error) {
      throw toThroughlineError(error, `emptying ${name}`);
    }
  }

  async #update({ session, config }: OwnStream, change: StreamChange): Promise<OwnStream> {
    const metadata = { ...config.metadata, ...change.metadata };
    try {
      return ownStream(session, await this.#changes.update(config.name, { ...change, metadata }));
    } catch (error) {
      throw toThroughlineError(error, `moving session ${session}`);
    }
  }
}

/** What puts a stream back in use that was marked when its session was back in it. */
export function asBefore({
  session,
  place,
  config,
  first,
}: Pick<OwnStream, 'session' | 'place' | 'config' | 'first'>): StreamChange {
  const metadata: Record<string, string> = { ...config.metadata, ...AS_OWN.metadata };
  // Who says that a session has moved had read its stream before the session came back to it, above all old sequences.
  if (place === 'moved' && first > 1) metadata[ABOVE] ??= String(first - 1);
  return { ...limitsBefore(config), subjects: [sessionSubjects(session)], metadata };
}

/** Whether a stream says that its session is, or was, on its way to a shard or back. */
export function isMarked(config: Pick<StreamConfig, 'metadata'>): boolean {
  return placeIn(config) !== 'own';
}

/** How a stream of an installation in which no session is moved is in use, whatever a move that is over has left on it. */
export function inUse<Config extends StreamConfig>(config: Config, first: number): Config {
  const session = sessionOfStream(config.name);
  if (session === undefined || !isMarked(config)) return config;
  return { ...config, ...asBefore({ session, place: placeIn(config), config, first }) };
}

/** The limits of a stream before it was fenced. */
function limitsBefore({ metadata }: StreamConfig): Pick<StreamConfig, 'discard' | 'max_bytes'> {
  const before = limits.safeParse(jsonOf(Buffer.from(metadata?.[LIMITS] ?? '')));
  return before.data ?? { discard: DiscardPolicy.Old, max_bytes: -1 };
}

function ownStream(session: Token, { config, state }: StreamInfo): OwnStream {
  return {
    session,
    config,
    place: placeIn(config),
    messages: state.messages,
    first: state.first_seq,
    last: state.last_seq,
  };
}

function placeIn({ metadata }: Pick<StreamConfig, 'metadata'>): SessionPlace {
  const place = metadata?.[PLACE];
  return place === 'fenced' || place === 'moved' || place === 'returning' ? place : 'own';
}

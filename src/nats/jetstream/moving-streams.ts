import { randomUUID } from 'node:crypto';
import { DiscardPolicy, type JetStreamManager, StorageType, type StreamInfo } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  ALL_SHARDS,
  MOVED_STREAM,
  MOVED_STREAM_SUBJECTS,
  MOVING_SUBJECT,
  sessionSubjects,
  shardOfStream,
  shardStream,
  type Token,
} from '../../contracts/names.js';
import { type SessionLayout, shardOf } from '../../contracts/session-layout.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { onConnectionLost } from '../connection/on-reconnect.js';
import { eraseMessages } from './erase-messages.js';
import {
  closeRecord,
  type LayoutPorts,
  newestLayout,
  type RecordedLayout,
  readLayout,
  replaceLayout,
} from './layout-record.js';
import { listStreams } from './list-streams.js';
import { asBefore, drained, FENCE, type OwnStream, OwnStreams, type StreamChange } from './session-places.js';
import { ABOVE, createShardStream, newestOfAllSnapshots, type TopologyOptions } from './topology.js';

/** Between the highest sequence of any session before a move and the lowest after it: what comes in meanwhile. */
const ROOM = 10_000_000;
/** How long another process may take to say that it moves sessions. */
const ANSWER_MS = 500;
/** The status of an answer while the servers of a cluster have not agreed on who leads. */
const NO_LEADER = 503;
/** How often this process notes that it has not stood still. */
const AWAKE_MS = 100;

/** Another process moves sessions, or has. */
export class ClaimLost extends ThroughlineError {
  constructor(message: string) {
    super('conflict', message);
  }
}

/** What moving sessions from one layout to the other needs of the streams; for an administrator of the account. */
export class MovingStreams {
  readonly #ports: LayoutPorts;
  readonly #options: TopologyOptions;
  readonly own: OwnStreams;
  /** Under which it moves sessions, and when it last could answer another process that asked. */
  readonly #id = randomUUID();
  #awakeAt: number | undefined;
  #isClaiming = false;
  #noting: NodeJS.Timeout | undefined;
  #claiming: Promise<void> | undefined;
  /** The record as this process has read it, or made it. */
  #read: RecordedLayout | undefined;
  /** What it was recording when no answer came: it may be recorded all the same. */
  #recording: RecordedLayout['layout'] | undefined;

  constructor(ports: LayoutPorts, options: TopologyOptions) {
    this.#ports = ports;
    this.#options = options;
    this.own = new OwnStreams(ports.jsm, {
      claimed: () => this.claimed(),
      update: (name, change) => updateStream(ports, name, change, () => this.claimed()),
    });
  }

  /**
   * The layout as it is recorded.
   *
   * @throws ThroughlineError `conflict` where another process has changed it while this one, which had claimed the move,
   * stood still
   */
  async recorded(): Promise<RecordedLayout> {
    await this.claimed();
    const isClaimed = this.#awakeAt !== undefined;
    const found = await (isClaimed ? newestLayout(this.#ports) : readLayout(this.#ports));
    if (found === undefined)
      throw new ThroughlineError('not_found', 'no layout is recorded: start a service');
    this.#read = found;
    return found;
  }

  async replace(before: RecordedLayout, layout: RecordedLayout['layout']): Promise<RecordedLayout> {
    await this.claimed();
    this.#recording = layout;
    this.#read = await replaceLayout(this.#ports, before, layout);
    this.#recording = undefined;
    return this.#read;
  }

  /**
   * The layout as it is recorded, by which sessions are where it says; `undefined` for a user who may not see it.
   *
   * @throws ThroughlineError `conflict` while they are moved
   */
  async refuseWhileMoving(): Promise<SessionLayout | undefined> {
    const found = await readLayout(this.#ports);
    if (found?.layout.layout === 'moving') throw whileMoving();
    return found?.layout;
  }

  /**
   * Makes sure that no other process moves sessions, for as long as this one answers those that ask. Once more after a fault
   * of the server: this one may have been cut off from those that asked.
   *
   * @throws ThroughlineError `conflict` where another process does, or has changed the layout since this one first claimed it
   */
  async claim(): Promise<void> {
    const { connection } = this.#ports;
    if (!this.#isClaiming) {
      this.#isClaiming = true;
      // What was read before counts for nothing: others could move sessions then.
      this.#read = undefined;
      connection.subscribe(MOVING_SUBJECT, {
        callback: (_, message) => {
          if (message.string() !== this.#id) message.respond(this.#id);
        },
      });
      onConnectionLost(connection, () => {
        this.#awakeAt &&= Number.NEGATIVE_INFINITY;
      });
    }
    await this.#claimAgain();
    await closeRecord(this.#ports);
    this.#noting ??= setInterval(() => {
      if (connection.isClosed()) clearInterval(this.#noting);
      // After a pause only a look at what happened meanwhile makes it the only one again.
      if (this.#isAwake()) this.#awakeAt = performance.now();
    }, AWAKE_MS).unref();
  }

  /**
   * Makes sure that nobody else has moved sessions while this process stood still, or was cut off: it could not answer then.
   * `undefined` where it was not.
   *
   * @throws ThroughlineError `conflict` where another process does, or has changed the layout since it was read
   */
  claimed(): Promise<void> | undefined {
    if (this.#awakeAt === undefined || this.#isAwake()) return undefined;
    this.#claiming ??= this.#claimAgain().finally(() => {
      this.#claiming = undefined;
    });
    return this.#claiming;
  }

  #isAwake(): boolean {
    return performance.now() - (this.#awakeAt ?? 0) < ANSWER_MS;
  }

  async #claimAgain(): Promise<void> {
    const awakeAt = await this.#refuseWhileAnotherMoves();
    if (this.#read !== undefined && !this.#isStill(await newestLayout(this.#ports)))
      throw new ClaimLost(
        'another process has moved sessions while this one stood still or was cut off: look at "throughline layout show"',
      );
    // Not before: what is asked meanwhile must wait for what the record says.
    this.#awakeAt = awakeAt;
  }

  /** Whether what is recorded now is what this process has read or recorded. */
  #isStill(now: RecordedLayout | undefined): boolean {
    if (now === undefined || now.sequence === this.#read?.sequence) return now !== undefined;
    return JSON.stringify(now.layout) === JSON.stringify(this.#recording);
  }

  /** Resolves to the time when it was known that no other process does. */
  async #refuseWhileAnotherMoves(): Promise<number> {
    const { connection } = this.#ports;
    for (let asked = Number.NEGATIVE_INFINITY; performance.now() - asked > 2 * ANSWER_MS; ) {
      asked = performance.now();
      const other = await connection
        .request(MOVING_SUBJECT, this.#id, { timeout: ANSWER_MS })
        .catch(() => undefined);
      if (other !== undefined) throw new ClaimLost('another process moves sessions: wait until it has ended');
    }
    return performance.now();
  }

  /**
   * Makes the streams of all shards: their sequences are higher than any that a session has, or may have soon, and they
   * have as many copies as those of sessions, whatever this process is set to.
   */
  async makeShards(shards: number, streams: readonly OwnStream[]): Promise<void> {
    const there = await this.aboveShards();
    if (there.size === shards) return;
    await this.#doing('making the streams of shards', async (jsm) => {
      const highest = streams.reduce(
        (most, { last }) => Math.max(most, last),
        await newestOfAllSnapshots(jsm),
      );
      const above = highest + ROOM;
      const replicas = streams.reduce(
        (most, { config }) => Math.max(most, config.num_replicas),
        this.#options.replicas,
      );
      for (let shard = 0; shard < shards; shard += 1) {
        const options = { ...this.#options, replicas };
        if (!there.has(shard)) await createShardStream(jsm, { shard, shards }, above, options, above);
      }
    });
  }

  /** By shard whose stream there is, the sequence that all in it is above. */
  aboveShards(): Promise<Map<number, number>> {
    return this.#doing('listing shards', async (jsm) => {
      const found = new Map<number, number>();
      for (const { config } of await listStreams(jsm, ALL_SHARDS)) {
        const shard = shardOfStream(config.name);
        if (shard !== undefined) found.set(shard, Number(config.metadata?.[ABOVE] ?? 0));
      }
      return found;
    });
  }

  /**
   * Once sessions are not moved any more: each stream that was marked after that is put back in use. So marks a process that
   * stood still until the move was taken back, with what it had sent by then; it need not have the claim for this.
   *
   * @throws ThroughlineError `conflict` where sessions are being moved
   */
  async takeBackMarks(): Promise<void> {
    const unlessMoving = async () => {
      const asked = performance.now();
      const now = await newestLayout(this.#ports);
      // An answer that is older may not be true any more.
      if (now?.layout.layout !== 'per-session' || performance.now() - asked > ANSWER_MS)
        throw new ClaimLost('another process moves sessions');
    };
    try {
      await unlessMoving();
      for (const stream of await this.own.list()) {
        if (stream.place !== 'own')
          await updateStream(this.#ports, stream.config.name, asBefore(stream), unlessMoving);
      }
    } catch (error) {
      throw toThroughlineError(error, 'putting streams back in use');
    }
  }

  /** A sequence that is higher than any of a shard, now or soon. */
  aboveShard(shard: number): Promise<number> {
    return this.#doing(`asking for shard ${shard}`, async (jsm) => {
      return (await jsm.streams.info(shardStream(shard))).state.last_seq + ROOM;
    });
  }

  /** Has a shard take no event from now on. */
  async fenceShard(shard: number): Promise<void> {
    await this.#doing(`fencing shard ${shard}`, async (jsm) => {
      await drained(jsm, await updateStream(this.#ports, shardStream(shard), FENCE, () => this.claimed()));
    });
  }

  /** Drops the events of a session from its shard: a copy that cannot be gone on with. */
  async clearShard(session: Token, shards: number): Promise<void> {
    const stream = shardStream(shardOf(session, shards));
    // What is purged stays in the file of the shard, where forgetting the session would not reach it.
    await this.#doing(`clearing session ${session}`, () =>
      eraseMessages(this.#ports, stream, sessionSubjects(session), { mayGoOn: () => this.claimed() }),
    );
  }

  /** Removes the shards that a move has made. */
  async removeShards(): Promise<void> {
    await this.#doing('removing shards', async (jsm) => {
      for (const [shard, above] of await this.aboveShards())
        if (above > 0) await jsm.streams.delete(shardStream(shard));
    });
  }

  /** Has all that is published for streams of sessions be refused: `false` while a session still has its own. */
  async refuseOwn(): Promise<boolean> {
    const config = {
      name: MOVED_STREAM,
      subjects: [MOVED_STREAM_SUBJECTS],
      description: 'Takes nothing: the events of sessions are in shards',
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      max_bytes: FENCE.max_bytes,
      num_replicas: this.#options.replicas,
    };
    return this.#doing(`making ${MOVED_STREAM}`, async (jsm) => {
      try {
        await jsm.streams.add(config);
      } catch (error) {
        if (apiCode(error) === API.subjectsOverlap) return false;
        if (apiCode(error) !== API.streamNameInUse) throw error;
      }
      return true;
    });
  }

  async takeOwnAgain(): Promise<void> {
    await this.#doing(`removing ${MOVED_STREAM}`, async (jsm) => {
      await jsm.streams.delete(MOVED_STREAM).catch((error: unknown) => {
        if (apiCode(error) !== API.streamNotFound) throw error;
      });
    });
  }

  async #doing<T>(what: string, work: (jsm: JetStreamManager) => Promise<T>): Promise<T> {
    try {
      await this.claimed();
      return await work(this.#ports.jsm);
    } catch (error) {
      throw toThroughlineError(error, what);
    }
  }
}

/**
 * Changes a stream, if `claimed` lets it: asked last of all, since the stream is read before. The client's own update would
 * read it and not ask.
 */
async function updateStream(
  { connection, jsm, timeoutMs: timeout }: LayoutPorts,
  name: string,
  change: StreamChange,
  claimed: () => Promise<void> | undefined,
): Promise<StreamInfo> {
  const { config } = await jsm.streams.info(name);
  await claimed();
  const wanted = JSON.stringify({ ...config, ...change });
  const answer = await connection.request(`$JS.API.STREAM.UPDATE.${name}`, wanted, { timeout });
  const { error, ...info } = answer.json<StreamInfo & { error?: { code?: number; description?: string } }>();
  if (error === undefined) return info;
  throw new ThroughlineError(
    error.code === NO_LEADER ? 'unavailable' : 'internal',
    `${name} cannot be changed: ${error.description ?? 'no reason given'}`,
  );
}

/** What keeps a command from its work while sessions are moved. */
export function whileMoving(): ThroughlineError {
  return new ThroughlineError(
    'conflict',
    'sessions are being moved to another layout: this waits for the end of it. "throughline layout show" says how far the move is, and the command that goes on with it',
  );
}

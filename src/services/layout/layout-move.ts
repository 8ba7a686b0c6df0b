import { codeOf, messageOf, ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { type MovingLayout, shardOf } from '../../contracts/session-layout.js';
import type { RecordedLayout } from '../../nats/jetstream/layout-record.js';
import { ClaimLost } from '../../nats/jetstream/moving-streams.js';
import type { OwnStream } from '../../nats/jetstream/session-places.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import { LAYOUT_TRUSTED_MS } from '../../nats/stores/nats-moving-session-log.js';
import type { Clock } from '../../ports/clock.js';
import { pause } from '../../runtime/pauses.js';
import { Semaphore } from '../../runtime/semaphore.js';
import { counted } from '../../shared/counted.js';
import { heldLog, heldSnapshots } from './held-ports.js';
import { arrive, copyMissing, type SessionMove } from './move-session.js';
import { movingTo } from './moving-to.js';
import { throughElections } from './through-elections.js';

/**
 * Moves the sessions of an installation from a stream each to shards, or back, while it runs.
 *
 * The record says that sessions are moved, and each process follows it. Each session then goes over by itself: its stream
 * takes no event any more, what is in it is copied, the copy is compared, and the stream says that the session has moved.
 * Killed at any point, the same command goes on where it was.
 */
export interface LayoutMovePorts {
  readonly nats: Pick<NatsPorts, 'moving' | 'logs' | 'snapshots'>;
  readonly clock: Clock;
  /** Sessions that are being forgotten or renamed. Default: none. */
  readonly leaving?: () => readonly Token[];
  /** Told after each session; `total` may grow, since sessions begin meanwhile. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Told once for each wait, when servers do not answer, and the move waits for them. */
  readonly onWaiting?: (fault: string) => void;
  /** Until every process has read what was recorded, in milliseconds. */
  readonly settleMs?: number;
  /** How long the move waits for servers that do not answer before it ends, in milliseconds. Default: 30 s. */
  readonly patienceMs?: number;
}

export interface MoveReport {
  /** What is recorded now. */
  readonly layout: RecordedLayout['layout'];
  /** Sessions that this run has moved. */
  readonly moved: number;
  /** Sessions that could not be moved: they are where they were. */
  readonly failed: readonly MoveFailure[];
}

export interface MoveFailure {
  readonly session: Token;
  readonly code: string;
  readonly message: string;
}

export const SETTLE_MS = LAYOUT_TRUSTED_MS + 1000;
/** Sessions on their way at a time. */
const AT_ONCE = 8;
/** A log of more messages is copied before its stream is fenced, so that appends wait for the rest alone. */
const LONG = 100;

export class LayoutMove {
  readonly #ports: LayoutMovePorts;
  readonly #failed = new Map<Token, MoveFailure>();
  #moved = 0;
  /** Each step of each session that was done, so that one that is done once more counts once. */
  readonly #steps = new Set<string>();

  constructor(ports: LayoutMovePorts) {
    this.#ports = ports;
  }

  /**
   * Moves all sessions to shards. `finish` also removes the streams of sessions: after that they cannot be moved back.
   *
   * @throws ThroughlineError `conflict` where another process moves sessions, or they are being moved back, `unavailable`
   * when servers have not answered for `patienceMs`
   */
  toShards(shards: number, finish: boolean): Promise<MoveReport> {
    return this.#persistently(() => this.#toShards(shards, finish));
  }

  /**
   * Moves all sessions back to a stream each.
   *
   * @throws ThroughlineError `conflict` where that is too late, or another process moves sessions, and as `toShards`
   */
  back(): Promise<MoveReport> {
    return this.#persistently(() => this.#back());
  }

  /** Goes on where it was cut short, as the same command would. */
  async #persistently(work: () => Promise<MoveReport>): Promise<MoveReport> {
    const { nats, patienceMs, onWaiting } = this.#ports;
    let claimed = false;
    const attempt = async () => {
      this.#failed.clear();
      this.#aboveShards = undefined;
      await nats.moving.claim();
      claimed = true;
      return work();
    };
    try {
      return await throughElections(attempt, { done: () => this.#steps.size, patienceMs, onWaiting });
    } catch (error) {
      // What it had sent when it stood still may have come after all sessions were back. Where this fails too, going back
      // or moving once more does the same.
      if (claimed && error instanceof ClaimLost) await nats.moving.takeBackMarks().catch(() => undefined);
      throw error;
    }
  }

  async #toShards(shards: number, finish: boolean): Promise<MoveReport> {
    const { moving } = this.#ports.nats;
    let record = await moving.recorded();
    if (record.layout.layout !== 'sharded') {
      record = await this.#begin(record, shards);
      await this.#moveAll(shards);
      if (!finish || this.#failed.size > 0) return this.#report(record);
      record = await this.#close(record, shards);
      await this.#settled();
    }
    for (const stream of await moving.own.list()) {
      if (stream.place !== 'moved') continue;
      await moving.own.remove(stream);
      this.#steps.add(`removed ${stream.session}`);
    }
    return this.#report(record);
  }

  async #back(): Promise<MoveReport> {
    const { moving } = this.#ports.nats;
    let record = await moving.recorded();
    const { layout } = record;
    if (layout.layout === 'sharded')
      throw new ThroughlineError('conflict', 'the move is finished, and nothing is left to go back to');
    if (layout.layout === 'moving') {
      await moving.takeOwnAgain();
      if (layout.towards === 'sharded') {
        // What is about to be in its shard may have its new snapshot already: it must arrive before it can return.
        await this.#settled();
        await this.#each(await this.#at('fenced'), (stream) => this.#toShard(stream, layout.shards));
        if (this.#failed.size > 0) return this.#report(record);
        record = await moving.replace(record, { ...layout, towards: 'per-session' });
      }
      await this.#settled();
      await this.#returnAll(layout.shards);
      if (this.#failed.size > 0) return this.#report(record);
      record = await moving.replace(record, { layout: 'per-session' });
      await this.#settled();
    }
    await moving.takeBackMarks();
    await moving.removeShards();
    return this.#report(record);
  }

  async #begin(record: RecordedLayout, shards: number): Promise<RecordedLayout> {
    const { moving } = this.#ports.nats;
    const { layout } = record;
    if (layout.layout === 'moving') {
      if (layout.towards === 'per-session')
        throw new ThroughlineError(
          'conflict',
          'sessions are being moved back: let that come to its end first, with --back',
        );
      if (layout.shards !== shards) throw movingTo(layout, shards);
    } else {
      this.#refuseWhileLeaving();
      // Of a move that was taken back.
      await moving.takeBackMarks();
      await moving.removeShards();
    }
    await moving.makeShards(shards, await moving.own.list());
    const begun: MovingLayout = { layout: 'moving', shards, towards: 'sharded' };
    const next = layout.layout === 'moving' ? record : await moving.replace(record, begun);
    await this.#settled();
    return next;
  }

  /** What is erased in one place must not have been copied to another one. What is begun during a move waits for its end. */
  #refuseWhileLeaving(): void {
    const { length } = this.#ports.leaving?.() ?? [];
    if (length === 0) return;
    const what = `${counted(length, 'session is', 'sessions are')} being forgotten or renamed`;
    throw new ThroughlineError('conflict', `${what}: wait until that is done, and begin the move then`);
  }

  async #moveAll(shards: number): Promise<void> {
    for (;;) {
      const left = (await this.#at('own', 'fenced')).filter(({ session }) => !this.#failed.has(session));
      if (left.length === 0) return;
      await this.#each(left, (stream) => this.#toShard(stream, shards));
    }
  }

  async #toShard(stream: OwnStream, shards: number): Promise<void> {
    const { moving, logs } = this.#ports.nats;
    const { session } = stream;
    const shard = shardOf(session, shards);
    const above = (await this.#above()).get(shard);
    if (above === undefined) throw new ThroughlineError('unavailable', `shard ${shard} is not there yet`);
    const move: SessionMove = {
      session,
      from: logs.own,
      to: heldLog(this.#sharded(shards), this.#claimed),
      clear: () => moving.clearShard(session, shards),
    };
    if (stream.place === 'own' && stream.messages > LONG) await copyMissing(move);
    const fenced = await moving.own.fence(stream);
    if (fenced.last > above) {
      const fix = 'go back with --back, and begin again';
      throw new ThroughlineError('conflict', `session ${session} has come beyond sequence ${above}: ${fix}`);
    }
    await arrive(move, this.#snapshots());
    await this.#claimed();
    await moving.own.moved(fenced);
  }

  /** No session can begin with a stream of its own any more, and all are in shards: so it is recorded. */
  async #close(record: RecordedLayout, shards: number): Promise<RecordedLayout> {
    const { moving } = this.#ports.nats;
    for (;;) {
      const release = async (stream: OwnStream) => {
        await moving.own.released(stream);
      };
      await this.#each(await this.#at('moved'), release, 'silently');
      if (await moving.refuseOwn()) break;
      await this.#moveAll(shards);
      const [failure] = this.#failed.values();
      if (failure !== undefined) throw new ThroughlineError('conflict', failure.message);
    }
    return moving.replace(record, { layout: 'sharded', shards });
  }

  /** Shard by shard: a shard takes no event while the newest of its sessions' events are copied. */
  async #returnAll(shards: number): Promise<void> {
    const { moving, logs } = this.#ports.nats;
    const from = this.#sharded(shards);
    const streams = await this.#at('moved', 'returning');
    const total = this.#moved + streams.length;
    for (let shard = 0; shard < shards; shard += 1) {
      const ofShard = streams.filter(({ session }) => shardOf(session, shards) === shard);
      if (ofShard.length === 0) continue;
      const above = await moving.aboveShard(shard);
      const returning: OwnStream[] = [];
      const moveOf = (stream: OwnStream): SessionMove => ({
        ...{ session: stream.session, from, to: heldLog(logs.own, this.#claimed) },
        clear: () => moving.own.clear(stream),
      });
      await this.#each(
        ofShard,
        async (stream) => {
          // Once more where it was begun: it may have been cut short.
          const ready = await moving.own.returning(stream, above);
          await copyMissing(moveOf(ready));
          returning.push(ready);
        },
        'silently',
      );
      await this.#claimed();
      await moving.fenceShard(shard);
      await this.#each(
        returning,
        async (stream) => {
          await arrive(moveOf(stream), this.#snapshots());
          await this.#claimed();
          await moving.own.returned(stream);
        },
        total,
      );
    }
  }

  async #each(
    streams: readonly OwnStream[],
    work: (stream: OwnStream) => Promise<void>,
    /** Told with each that is done. */
    total: number | 'silently' = this.#moved + streams.length,
  ): Promise<void> {
    const semaphore = new Semaphore(AT_ONCE);
    const ends: unknown[] = [];
    const one = async (stream: OwnStream) => {
      const { session } = stream;
      if (ends.length > 0) return;
      try {
        await this.#claimed();
        await work(stream);
        this.#steps.add(`${stream.place} ${total === 'silently'} ${session}`);
        if (total === 'silently') return;
        this.#moved += 1;
        this.#ports.onProgress?.(this.#moved, total);
      } catch (error) {
        // Without the server nothing goes on; what is wrong with one session keeps no other one from it.
        if (codeOf(error) === 'unavailable' || error instanceof ClaimLost) ends.push(error);
        else this.#failed.set(session, { session, code: codeOf(error), message: messageOf(error) });
      }
    };
    await Promise.all(streams.map((stream) => semaphore.run(() => one(stream))));
    // Only now: a session that is still on its way must not be moved once more beside that.
    const [lost = ends[0]] = ends.filter((end) => end instanceof ClaimLost);
    if (lost !== undefined) throw lost;
  }

  async #at(...places: readonly OwnStream['place'][]): Promise<OwnStream[]> {
    return (await this.#ports.nats.moving.own.list()).filter(({ place }) => places.includes(place));
  }

  #aboveShards: Promise<Map<number, number>> | undefined;
  #above(): Promise<Map<number, number>> {
    this.#aboveShards ??= this.#ports.nats.moving.aboveShards();
    return this.#aboveShards;
  }

  #shardedLog: ReturnType<NatsPorts['logs']['sharded']> | undefined;
  #sharded(shards: number) {
    this.#shardedLog ??= this.#ports.nats.logs.sharded(shards);
    return this.#shardedLog;
  }

  #snapshots() {
    const { snapshots } = this.#ports.nats;
    return { snapshots: heldSnapshots(snapshots, this.#claimed), clock: this.#ports.clock };
  }

  /** Makes sure, before something is written, that no other process has taken the place of this one. */
  readonly #claimed = () => this.#ports.nats.moving.claimed();

  #settled(): Promise<void> {
    return pause(this.#ports.settleMs ?? SETTLE_MS);
  }

  #report({ layout }: RecordedLayout): MoveReport {
    return { layout, moved: this.#moved, failed: [...this.#failed.values()] };
  }
}

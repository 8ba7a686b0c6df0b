import type { JetStreamManager } from 'nats';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { SessionEvent } from '../../contracts/session-events.js';
import { type InstalledLayout, PER_SESSION, type SessionLayout } from '../../contracts/session-layout.js';
import type {
  Appended,
  AppendOptions,
  EventRemoval,
  ReadRange,
  ReadResult,
  RemovalOptions,
  Unwatch,
} from '../../ports/event-log.js';
import type { ActiveSession, LeaderlessSession, SessionActivity } from '../../ports/session-activity.js';
import type { SessionLog } from '../../ports/session-log.js';
import { pause } from '../../runtime/pauses.js';
import type { RecordedLayout } from '../jetstream/layout-record.js';
import { OwnStreams, type StreamChange } from '../jetstream/session-places.js';

type Log = SessionLog & SessionActivity & EventRemoval;

/** Who is told of all sessions, and the logs that it hears them by. */
interface Follower {
  readonly onMoved: (session: Token) => void;
  readonly heard: Map<Log, Unwatch>;
}

export interface MovingLogPorts {
  readonly jsm: JetStreamManager;
  /** Longest wait for a session that is being moved, in milliseconds. */
  readonly timeoutMs: number;
  /** The layout as it is recorded now; `undefined` where the user may not see it. */
  readonly recorded: () => Promise<RecordedLayout | undefined>;
  readonly own: Log;
  readonly sharded: (shards: number) => Log;
  /** How long the record is taken for granted, in milliseconds. Default: `LAYOUT_TRUSTED_MS`. */
  readonly trustedMs?: number | undefined;
}

/**
 * How long a process takes the record that it has read for granted. A process that begins or ends a move waits longer
 * than this before anything depends on it.
 */
export const LAYOUT_TRUSTED_MS = 2000;
/** Between two looks at a session that is being moved. */
const LOOK_MS = 10;
/** How long after a move a replica may still lag behind it, in milliseconds. */
const LAG_MS = 60_000;
/** Faults of an append to a stream that has been fenced, or that cannot be made any more; nothing was stored. */
const REFUSED: ReadonlySet<string> = new Set(['store_full', 'config_invalid']);

/**
 * The logs of sessions of an installation whose sessions may be moved from a stream each to shards, or back, while it runs.
 *
 * Nothing is appended to a place that a session has left: its stream refuses it, and only then the rest is copied. Nothing
 * is read there either: as long as it may be somewhere else, each read asks for its place first. Where a session has come
 * to, its first read waits until the leader has said what is there: a replica that lags behind would leave out the newest.
 */
export class NatsMovingSessionLog implements SessionLog, SessionActivity, EventRemoval {
  readonly #ports: MovingLogPorts;
  readonly #streams: OwnStreams;
  #layout: InstalledLayout;
  /** When the record was asked for that is in `#layout`. */
  #readAt = performance.now();
  #reading: Promise<InstalledLayout> | undefined;
  /** The log of so many shards: a move that was taken back may have had another number. */
  #shards: { readonly count: number; readonly log: Log } | undefined;
  /**
   * Sessions that have come to where they are moved to: they stay there, unless they are moved back. Each with the question
   * what its log there holds, until that is answered.
   */
  readonly #arrived = new Map<Token, Promise<unknown> | undefined>();
  /** Until when the first read of a session asks what its log holds, in the process's own milliseconds. */
  #asksUntil: number;
  /** Sequence of the record that `#layout` was read from; `undefined` for one that was given. */
  #sequence: number | undefined;
  readonly #followers = new Set<Follower>();

  constructor(ports: MovingLogPorts, layout: InstalledLayout) {
    this.#ports = ports;
    this.#layout = layout;
    this.#asksUntil = layout.layout === 'moving' ? Number.POSITIVE_INFINITY : 0;
    const update = (name: string, change: StreamChange) => ports.jsm.streams.update(name, change);
    this.#streams = new OwnStreams(ports.jsm, { claimed: () => undefined, update });
  }

  /** How the sessions are laid out by now; while they are moved each still has a stream. */
  get layout(): SessionLayout {
    return this.#layout.layout === 'moving' ? PER_SESSION : this.#layout;
  }

  append(session: Token, event: SessionEvent, options?: AppendOptions): Promise<Appended> {
    const log = this.#settled();
    if (log !== undefined) return log.append(session, event, options);
    return this.#appendWherever(session, event, options);
  }

  async read(session: Token, range: ReadRange): Promise<ReadResult<SessionEvent>> {
    const log = this.#settled();
    if (log !== undefined && performance.now() > this.#asksUntil) return log.read(session, range);
    return (await this.#logOf(session)).read(session, range);
  }

  async removeBefore(session: Token, sequence: number, options?: RemovalOptions): Promise<number> {
    return (this.#settled() ?? (await this.#logOf(session))).removeBefore(session, sequence, options);
  }

  async newest(session: Token): Promise<number> {
    return (this.#settled() ?? (await this.#logOf(session))).newest(session);
  }

  watch(session: Token, onEvent: () => void): Unwatch {
    // It is only a hint, and a session may be moved while it is watched.
    const unwatch = this.#logs().map((log) => log.watch(session, onEvent));
    return () => {
      for (const each of unwatch) each();
    };
  }

  follow(onMoved: (session: Token) => void): Unwatch {
    const follower: Follower = { onMoved, heard: new Map() };
    this.#followers.add(follower);
    this.#hear(follower);
    // Who only listens asks for nothing, and would never learn that sessions are elsewhere.
    const asks = setInterval(() => this.#now().catch(() => {}), LAYOUT_TRUSTED_MS);
    asks.unref();
    return () => {
      clearInterval(asks);
      this.#followers.delete(follower);
      for (const unwatch of follower.heard.values()) unwatch();
    };
  }

  async sessions(): Promise<Token[]> {
    await this.#now();
    const found = await Promise.all(this.#logs().map((log) => log.sessions()));
    return [...new Set(found.flat())].sort();
  }

  async activity(): Promise<(ActiveSession | LeaderlessSession)[]> {
    const layout = await this.#now();
    if (layout.layout !== 'moving') return this.#logFor(layout).activity();
    const streams = await this.#streams.list();
    const inShards = new Set(streams.flatMap(({ session, place }) => (isInShard(place) ? [session] : [])));
    const [own, shared] = await Promise.all([
      this.#ports.own.activity(),
      this.#sharded(layout.shards).activity(),
    ]);
    return [
      ...own.filter(({ session }) => !inShards.has(session)),
      ...shared.filter(({ session }) => inShards.has(session)),
    ];
  }

  async #appendWherever(session: Token, event: SessionEvent, options?: AppendOptions): Promise<Appended> {
    const until = performance.now() + this.#ports.timeoutMs;
    for (;;) {
      const log = await this.#logOf(session);
      try {
        return await log.append(session, event, options);
      } catch (error) {
        if (!REFUSED.has(codeOf(error)) || !(await this.#isLeft(session, log))) throw error;
      }
      if (performance.now() > until) {
        const fix = 'try again; "throughline layout show" tells how far the move is';
        throw new ThroughlineError('unavailable', `session ${session} is being moved: ${fix}`);
      }
      await pause(LOOK_MS);
    }
  }

  /** Whether a session is leaving, or has left, the place that has refused an append. */
  async #isLeft(session: Token, log: Log): Promise<boolean> {
    const layout = await this.#ask();
    if (layout.layout !== 'moving') return this.#logFor(layout) !== log;
    const place = await this.#streams.place(session);
    if (log !== this.#ports.own) return isInShard(place) ? layout.towards === 'per-session' : true;
    // At the end of a move no stream can be made any more, and the record says so a moment later.
    return place !== 'own' && (place !== undefined || layout.towards === 'sharded');
  }

  async #logOf(session: Token): Promise<Log> {
    const layout = await this.#now();
    if (layout.layout !== 'moving') return this.#comeTo(this.#logFor(layout), session);
    const sharded = this.#sharded(layout.shards);
    if (this.#arrived.has(session))
      return this.#comeTo(layout.towards === 'sharded' ? sharded : this.#ports.own, session);
    const place = await this.#streams.place(session);
    if (layout !== this.#layout) return this.#logOf(session);
    if (place !== undefined) {
      const log = isInShard(place) ? sharded : this.#ports.own;
      // On the way to the other place nothing is final.
      const isFinal = layout.towards === 'sharded' ? isInShard(place) : place === 'own';
      return isFinal ? this.#comeTo(log, session) : log;
    }
    // A session without a stream is new, or all have moved a moment ago.
    const asked = await this.#ask();
    return asked.layout === 'moving' ? this.#ports.own : this.#comeTo(this.#logFor(asked), session);
  }

  /** The log that a session has come to, once each read of it shows what was there, whichever replica answers. */
  async #comeTo(log: Log, session: Token): Promise<Log> {
    if (performance.now() > this.#asksUntil) return log;
    if (!this.#arrived.has(session)) {
      const asking = log.newest(session).catch((error: unknown) => {
        // Who may only read it sees what a replica shows.
        if (codeOf(error) !== 'permission_denied') throw error;
      });
      const isAsked = () => this.#arrived.get(session) === asking;
      this.#arrived.set(session, asking);
      asking.then(
        () => isAsked() && this.#arrived.set(session, undefined),
        () => isAsked() && this.#arrived.delete(session),
      );
    }
    await this.#arrived.get(session);
    return log;
  }

  /** Has a follower hear the logs that there are now. */
  #hear({ onMoved, heard }: Follower): void {
    const logs = this.#logs();
    for (const log of logs) if (!heard.has(log)) heard.set(log, log.follow(onMoved));
    for (const [log, unwatch] of heard) {
      if (logs.includes(log)) continue;
      unwatch();
      heard.delete(log);
    }
  }

  /** The one log of all sessions, where it is known without asking that there is one. */
  #settled(): Log | undefined {
    const layout = this.#layout;
    if (layout.layout === 'moving' || this.#isOld()) return undefined;
    return this.#logFor(layout);
  }

  #logFor(layout: SessionLayout): Log {
    return layout.layout === 'sharded' ? this.#sharded(layout.shards) : this.#ports.own;
  }

  #logs(): Log[] {
    const layout = this.#layout;
    if (layout.layout === 'moving') return [this.#ports.own, this.#sharded(layout.shards)];
    return [this.#logFor(layout)];
  }

  #sharded(shards: number): Log {
    if (this.#shards?.count !== shards) this.#shards = { count: shards, log: this.#ports.sharded(shards) };
    return this.#shards.log;
  }

  #isOld(): boolean {
    return performance.now() - this.#readAt > (this.#ports.trustedMs ?? LAYOUT_TRUSTED_MS);
  }

  async #now(): Promise<InstalledLayout> {
    if (!this.#isOld()) return this.#layout;
    this.#reading ??= this.#ask().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The record as it is now. */
  async #ask(): Promise<InstalledLayout> {
    const asked = performance.now();
    const recorded = await this.#ports.recorded();
    if (asked < this.#readAt) return this.#layout;
    const before = this.#layout;
    const layout = recorded?.layout ?? before;
    const isSame = JSON.stringify(before) === JSON.stringify(layout);
    // The same once more is of another move, by which sessions may be elsewhere again.
    if (!isSame || (this.#sequence ?? recorded?.sequence) !== recorded?.sequence) {
      this.#asksUntil = layout.layout === 'moving' ? Number.POSITIVE_INFINITY : performance.now() + LAG_MS;
      this.#arrived.clear();
      this.#layout = layout;
    }
    this.#sequence = recorded?.sequence;
    // A user who may not see the record need not ask again; what a session has left refuses its appends.
    this.#readAt = recorded === undefined ? Number.POSITIVE_INFINITY : asked;
    if (before !== this.#layout) for (const follower of this.#followers) this.#hear(follower);
    return this.#layout;
  }
}

function isInShard(place: string | undefined): boolean {
  return place === 'moved' || place === 'returning';
}

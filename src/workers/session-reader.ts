import { isDeepStrictEqual } from 'node:util';
import type { Token } from '../contracts/names.js';
import { ThroughlineError } from '../errors.js';
import type { Logger } from '../ports/logger.js';
import type { SessionLog } from '../ports/session-log.js';
import type { SnapshotStore, StoredSnapshot } from '../ports/snapshot-store.js';
import { evolve } from '../session/evolve.js';
import { decodeSnapshot } from '../session/snapshot.js';
import { emptyState, type SessionLimits, type SessionState } from '../session/state.js';

/**
 * Loads sessions: snapshot first, then only newer events; after that, only what has come since the last load.
 *
 * Folded states stay in a bounded cache, the least recently used one goes first. However many requests ask for one
 * session, at most one read of it runs and one waits; a request that comes while a read runs waits for the next one,
 * so it sees everything that was stored before it asked.
 */
export interface SessionReaderOptions {
  readonly log: SessionLog;
  readonly snapshots: SnapshotStore;
  readonly limits: SessionLimits;
  readonly logger: Logger;
  /** Folded sessions kept in memory. */
  readonly maxSessions: number;
  /** Told after each load that folded something. */
  readonly onFolded?: (folded: FoldedSession) => void;
}

/** A session in the cache. The state belongs to the reader and changes with the next load: use it at once. */
export interface FoldedSession {
  readonly session: Token;
  readonly state: SessionState;
  /** Sequence of the snapshot that the fold began from; 0 for none. */
  readonly snapshotSequence: number;
  /** Events folded since a snapshot of the session was last read or written. */
  sinceSnapshot: number;
}

/** A session as loaded for one request. */
export interface LoadedSession {
  readonly folded: FoldedSession;
  /** Events read for this load. */
  readonly replayed: number;
}

interface Slot {
  folded: FoldedSession | undefined;
  running: Promise<LoadedSession> | undefined;
  next: Promise<LoadedSession> | undefined;
}

export class SessionReader {
  readonly #options: SessionReaderOptions;
  readonly #slots = new Map<Token, Slot>();

  constructor(options: SessionReaderOptions) {
    this.#options = options;
  }

  /** The session with everything that was stored when this was called. */
  load(session: Token): Promise<LoadedSession> {
    const slot = this.#slot(session);
    if (slot.running !== undefined) {
      slot.next ??= this.#turn(session, slot, slot.running);
      return slot.next;
    }
    slot.running = this.#turn(session, slot);
    return slot.running;
  }

  /**
   * The session as it was when the event at `sequence` was its last. Folded anew, from a snapshot where one is old
   * enough.
   *
   * @throws ThroughlineError `not_caught_up` when the session has not come that far
   */
  async loadAsOf(session: Token, sequence: number): Promise<LoadedSession> {
    const { log, snapshots } = this.#options;
    const newest = await this.load(session);
    const at = newest.folded.state.sequence;
    if (at < sequence) {
      throw new ThroughlineError(
        'not_caught_up',
        `asOf is ${sequence}, but session ${session} stands at ${at}: ask for that sequence or an earlier one`,
        { details: { session, asOf: sequence, sequence: at } },
      );
    }
    const folded = this.#start(session, await snapshots.loadAtOrBefore(session, sequence));
    const range = { after: folded.state.sequence, through: sequence };
    const replayed = this.#fold(folded, await log.read(session, range));
    return { folded, replayed };
  }

  /** Forgets what is cached of a session: the next load starts from its snapshot. */
  forget(session: Token): void {
    this.#slots.delete(session);
  }

  #slot(session: Token): Slot {
    const slot = this.#slots.get(session) ?? { folded: undefined, running: undefined, next: undefined };
    // Deleted and set again, a key moves to the end of the map: the first one is the least recently used.
    this.#slots.delete(session);
    this.#slots.set(session, slot);
    if (this.#slots.size > this.#options.maxSessions) {
      const oldest = this.#slots.keys().next();
      if (!oldest.done) this.#slots.delete(oldest.value);
    }
    return slot;
  }

  /** One read, once the one before it is over. The read that waits comes next, whoever else asks in that moment. */
  #turn(session: Token, slot: Slot, before?: Promise<unknown>): Promise<LoadedSession> {
    const read = () => this.#refresh(session, slot);
    return (before === undefined ? read() : before.then(read, read)).finally(() => {
      slot.running = slot.next;
      slot.next = undefined;
    });
  }

  async #refresh(session: Token, slot: Slot): Promise<LoadedSession> {
    const { log, snapshots, onFolded } = this.#options;
    const folded = slot.folded ?? this.#start(session, await snapshots.load(session));
    const read = await log.read(session, { after: folded.state.sequence });
    // Should the fold throw halfway, the changed state is not to be found in the cache.
    slot.folded = undefined;
    const replayed = this.#fold(folded, read);
    slot.folded = folded;
    if (replayed > 0) onFolded?.(folded);
    return { folded, replayed };
  }

  #fold(folded: FoldedSession, read: Awaited<ReturnType<SessionLog['read']>>): number {
    const { session, state } = folded;
    for (const stored of read.events) evolve(state, stored);
    state.sequence = Math.max(state.sequence, read.through);
    folded.sinceSnapshot += read.events.length;
    if (read.skipped > 0) {
      this.#options.logger.warn(
        { session, skipped: read.skipped },
        'messages that are no valid events were skipped',
      );
    }
    return read.events.length;
  }

  #start(session: Token, snapshot: StoredSnapshot | undefined): FoldedSession {
    const { limits, logger } = this.#options;
    const fresh = { session, state: emptyState(session, limits), snapshotSequence: 0, sinceSnapshot: 0 };
    if (snapshot === undefined) return fresh;
    const decoded = decodeSnapshot(session, snapshot.text);
    if (!decoded.ok) {
      logger.warn({ session, reason: decoded.reason }, 'snapshot ignored: it cannot be read');
      return fresh;
    }
    const { state } = decoded;
    if (!isDeepStrictEqual(state.limits, limits)) {
      logger.info({ session }, 'snapshot ignored: it was made under other limits');
      return fresh;
    }
    return { session, state, snapshotSequence: state.sequence, sinceSnapshot: 0 };
  }
}

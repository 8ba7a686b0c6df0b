import { codeOf } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { Figures, SessionIndexEntry } from '../../contracts/replies/session-reply.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import {
  type ActiveSession,
  hasLeader,
  type LeaderlessSession,
  type SessionActivity,
  type SessionIndex,
  type Unwatch,
} from '../../engine/ports/session-log.js';
import { Backoff, batched } from '../../engine/runtime/pacing.js';
import { withinDeadline } from '../../shared/deadlines.js';
import { needRank, needsText } from '../../shared/wire-words.js';

/** Data of a session from the index, folds and hints. Fields to filter and sort by are values, the rest is JSON text. */
export interface Row {
  readonly session: Token;
  /** Time of its last event, in milliseconds since 1970. */
  readonly at: number;
  /** Sequence that the figures reflect; 0 for none. */
  readonly sequence: number;
  /** Sequence of its index entry; 0 for none. */
  readonly stored: number;
  /** Highest known sequence of its log. */
  readonly reached: number;
  readonly known: KnownFigures | undefined;
}

interface KnownFigures {
  readonly status: Figures['status'];
  readonly project: string | undefined;
  /** A list is searched in this text: name, title, project, goal, needs and agents, in lower case. */
  readonly searchText: string;
  readonly rank: number;
  readonly isStalled: boolean;
  readonly text: string;
  /** Open tasks and files, which are searched as well: see `workText`. */
  readonly work: string;
}

/** A hint may precede its event: a read within this time after a hint may miss the event. */
const SETTLED_MS = 2000;

type KeptRow = { -readonly [Field in keyof Row]: Row[Field] } & {
  /** Time of the last hint that the figures may not reflect; else 0. */
  heard: number;
  /** True if `at` is a placeholder for an unknown time. */
  isGuessed: boolean;
};

export class SessionTable {
  readonly #rows = new Map<Token, KeptRow>();
  readonly #stale = new Set<KeptRow>();
  readonly #now: () => number;

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(session: Token): Row | undefined {
    return this.#rows.get(session);
  }

  rows(): Iterable<Row> {
    return this.#rows.values();
  }

  /** Sessions whose figures may be stale, newest last. */
  get stale(): ReadonlySet<Row> {
    return this.#stale;
  }

  moved(session: Token): void {
    const row = this.#row(session);
    const now = this.#now();
    movedAt(row, now);
    row.heard = now;
    this.#stale.delete(row);
    this.#stale.add(row);
  }

  stored(entry: SessionIndexEntry): void {
    const { sequence, at, figures } = entry;
    // The schema of `figures` admits only a token.
    const row = this.#row(figures.session as Token);
    row.stored = Math.max(row.stored, sequence);
    movedAt(row, Date.parse(at));
    // The writer folded the session a moment ago.
    this.#figures(row, sequence, figures, this.#now() - SETTLED_MS);
  }

  /** Handles a fold in this process. @param begun its start, by the table's clock */
  folded(session: Token, sequence: number, figures: Figures, begun: number): void {
    if (sequence === 0) {
      this.removed(session);
      return;
    }
    const row = this.#row(session);
    row.reached = Math.min(row.reached, sequence);
    this.#figures(row, sequence, figures, begun);
  }

  removed(session: Token): void {
    const row = this.#rows.get(session);
    if (row === undefined) return;
    this.#rows.delete(session);
    this.#stale.delete(row);
  }

  indexLost(): void {
    for (const row of this.#rows.values()) row.stored = 0;
  }

  /**
   * Compares the table with all logs and removes sessions without a log. Rows of logs without a leader stay.
   *
   * @param begun start of the look, by the table's clock
   * @returns sessions ahead of their index entry, newest first, and those with an entry but no log
   */
  compared(
    all: readonly (ActiveSession | LeaderlessSession)[],
    begun: number,
  ): { outdated: ActiveSession[]; removed: Token[] } {
    const there = new Set(all.map(({ session }) => session));
    const removed: Token[] = [];
    for (const row of this.#rows.values()) {
      if (there.has(row.session) || row.heard >= begun) continue;
      if (row.stored > 0) removed.push(row.session);
      this.removed(row.session);
    }
    for (const { session } of all.filter((active) => !hasLeader(active))) {
      const row = this.#row(session);
      // The time of an unknown session without a leader: assume now, so that it is not taken for idle.
      if (row.at > 0) continue;
      row.at = begun;
      row.isGuessed = true;
    }
    const oldestFirst = all.filter(hasLeader).sort((one, other) => (one.at < other.at ? -1 : 1));
    const outdated: ActiveSession[] = [];
    for (const active of oldestFirst) {
      const row = this.#row(active.session);
      if (active.sequence > row.stored) outdated.push(active);
      if (active.sequence <= row.sequence) continue;
      row.reached = active.sequence;
      movedAt(row, Date.parse(active.at));
      this.#stale.add(row);
    }
    return { outdated: outdated.reverse(), removed };
  }

  #figures(row: KeptRow, sequence: number, figures: Figures, begun: number): void {
    if (sequence >= row.sequence) {
      row.sequence = sequence;
      row.known = knownOf(figures);
    }
    if (row.heard <= begun - SETTLED_MS) row.heard = 0;
    if (row.heard === 0 && row.reached <= row.sequence) this.#stale.delete(row);
  }

  #row(session: Token): KeptRow {
    const found = this.#rows.get(session);
    if (found !== undefined) return found;
    const row: KeptRow = {
      session,
      at: 0,
      sequence: 0,
      stored: 0,
      reached: 0,
      heard: 0,
      known: undefined,
      isGuessed: false,
    };
    this.#rows.set(session, row);
    return row;
  }
}

function movedAt(row: KeptRow, at: number): void {
  row.at = row.isGuessed ? at : Math.max(row.at, at);
  row.isGuessed = false;
}

function knownOf({ work, ...figures }: Figures): KnownFigures {
  const { session, status, project, title, goal, working, stalled } = figures;
  const agents = working.map(({ task, agent }) => `${task} ${agent}`);
  const searchText = [session, title, project, goal, ...needsText(figures), ...agents]
    .join('\n')
    .toLowerCase();
  const text = JSON.stringify(figures);
  return { status, project, searchText, work, rank: needRank(figures), isStalled: stalled.length > 0, text };
}

/** Keeps a table of sessions up to date by index, logs and hints; compares periodically, because hints may be lost. */
interface SessionFeedOptions {
  readonly table: SessionTable;
  readonly log: Pick<SessionActivity, 'activity' | 'follow'>;
  readonly index: SessionIndex;
  readonly logger: Logger;
  readonly now: () => number;
  readonly onReconnect: (listener: () => void) => Unwatch;
}

interface FeedListener {
  readonly moved: (session: Token) => void;
  /** Sessions that are ahead of their index entries, newest first. */
  readonly outdated: (sessions: readonly ActiveSession[]) => void;
  /** Sessions with an index entry but no log. */
  readonly removed: (sessions: readonly Token[]) => void;
}

const COMPARE_EVERY_MS = 600_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const STOP_MS = 200;

export class SessionFeed {
  readonly #options: SessionFeedOptions;
  readonly #listeners = new Set<FeedListener>();
  readonly #stopping = new AbortController();
  readonly #undo: Unwatch[] = [];
  #epoch: string | undefined;
  #through = 0;
  #comparing = Promise.resolve();
  readonly #compare = batched<void, void>(() => this.#untilCompared());
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SessionFeedOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#isReady = resolve;
    });
  }

  /** Resolves after the first comparison of the index with the logs. */
  readonly ready: Promise<void>;
  #isReady: () => void = () => {};

  add(listener: FeedListener): void {
    this.#listeners.add(listener);
  }

  start(): void {
    const { log, index, table, onReconnect } = this.#options;
    // Subscribe first, so that nothing is missed between the comparison and the hints.
    this.#undo.push(
      log.follow((session) => {
        table.moved(session);
        for (const listener of this.#listeners) listener.moved(session);
      }),
      index.watch({ written: (entry) => table.stored(entry), removed: (session) => table.removed(session) }),
      onReconnect(() => void this.compare()),
    );
    this.#timer = setInterval(() => void this.compare(), COMPARE_EVERY_MS);
    void this.compare();
  }

  /** Compares again after a comparison that is running, which may miss recent changes. */
  compare(): Promise<void> {
    this.#comparing = this.#compare();
    return this.#comparing;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    for (const undo of this.#undo) undo();
    // The comparison only reads: do not wait for its timeout if the server is gone.
    await withinDeadline(STOP_MS, this.#comparing);
  }

  async #untilCompared(): Promise<void> {
    const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#compareOnce();
        this.#isReady();
        return;
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#options.logger.warn(
          { code: codeOf(error), retryInMs: backoff.nextMs, err: error },
          'the index of sessions could not be compared with their logs',
        );
        await backoff.pause(this.#stopping.signal);
      }
    }
  }

  async #compareOnce(): Promise<void> {
    const { log, index, table, now } = this.#options;
    const epoch = await index.epoch();
    // An index that did not exist may have been created and lost since.
    if (epoch === undefined || epoch !== this.#epoch) {
      table.indexLost();
      this.#through = 0;
    }
    for await (const { entries, through } of index.read(this.#through)) {
      for (const entry of entries) table.stored(entry);
      this.#through = through;
      if (this.#stopping.signal.aborted) return;
    }
    this.#epoch = epoch;
    const begun = now();
    const sessions = await log.activity();
    if (this.#stopping.signal.aborted) return;
    const { outdated, removed } = table.compared(sessions, begun);
    for (const listener of this.#listeners) {
      listener.outdated(outdated);
      listener.removed(removed);
    }
  }
}

import type { Token } from '../../contracts/names.js';
import type { Figures } from '../../contracts/replies/session-reply.js';
import type { SessionIndexEntry } from '../../contracts/session-file.js';
import {
  type ActiveSession,
  hasLeader,
  type LeaderlessSession,
} from '../../engine/ports/session-lifecycle.js';

/**
 * What is known of a session: from the index, from folds in this process, and from hints. Fields for filtering and sorting are
 * kept as values, the other figures as JSON text.
 */
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
  readonly title: string | undefined;
  readonly goal: string | undefined;
  /** Sort rank: 0 for a stalled task, 1 for waiting for a person, else 2. */
  readonly rank: number;
  readonly text: string;
}

/** A hint may precede its event: a read within this time after a hint may miss the event. */
const SETTLED_MS = 2000;

interface KeptRow extends Row {
  at: number;
  sequence: number;
  stored: number;
  known: KnownFigures | undefined;
  /** Time of the last hint that the figures may not reflect; else 0. */
  heard: number;
  /** True if `at` is a placeholder for an unknown time. */
  isGuessed: boolean;
  reached: number;
}

export class SessionTable {
  readonly #rows = new Map<Token, KeptRow>();
  /** Rows whose figures may be stale, newest last. */
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

  isStale(row: Row): boolean {
    return (this.#stale as ReadonlySet<Row>).has(row);
  }

  /** Handles a hint that an event was published. */
  moved(session: Token): void {
    const row = this.#row(session);
    const now = this.#now();
    movedAt(row, now);
    row.heard = now;
    this.#stale.delete(row);
    this.#stale.add(row);
  }

  /** Handles an index entry. */
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
  ): { behind: ActiveSession[]; gone: Token[] } {
    const there = new Set(all.map(({ session }) => session));
    const gone: Token[] = [];
    for (const row of this.#rows.values()) {
      if (there.has(row.session) || row.heard >= begun) continue;
      if (row.stored > 0) gone.push(row.session);
      this.removed(row.session);
    }
    for (const { session } of all.filter((each) => !hasLeader(each))) {
      const row = this.#row(session);
      // The time of an unknown session without a leader: assume now, so that it is not taken for idle.
      if (row.at > 0) continue;
      row.at = begun;
      row.isGuessed = true;
    }
    const oldestFirst = all.filter(hasLeader).sort((one, other) => (one.at < other.at ? -1 : 1));
    const behind: ActiveSession[] = [];
    for (const each of oldestFirst) {
      const row = this.#row(each.session);
      if (each.sequence > row.stored) behind.push(each);
      if (each.sequence <= row.sequence) continue;
      row.reached = each.sequence;
      movedAt(row, Date.parse(each.at));
      this.#stale.add(row);
    }
    return { behind: behind.reverse(), gone };
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
      known: undefined,
      heard: 0,
      reached: 0,
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

function knownOf(figures: Figures): KnownFigures {
  const { status, project, title, goal, stalled, waiting } = figures;
  const rank = stalled.length > 0 ? 0 : waiting.length > 0 ? 1 : 2;
  return { status, project, title, goal, rank, text: JSON.stringify(figures) };
}

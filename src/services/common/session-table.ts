import type { Token } from '../../contracts/names.js';
import type { Figures } from '../../contracts/replies/session-reply.js';
import type { SessionIndexEntry } from '../../contracts/session-file.js';
import {
  type ActiveSession,
  hasLeader,
  type LeaderlessSession,
} from '../../engine/ports/session-lifecycle.js';

/**
 * All sessions, in memory, with what is known of each: from the index, from folds in this process, and from what is heard
 * of them since. Of the figures, those that lists are filtered and ordered by are kept at hand, and the others as text.
 */
export interface Row {
  readonly session: Token;
  /** When it moved last: milliseconds since 1970. */
  readonly at: number;
  /** Sequence of the last event in the figures; 0 where there are none. */
  readonly sequence: number;
  /** Sequence of its entry in the index, 0 for none. */
  readonly stored: number;
  /** Sequence that its log is known to have reached; it may be further. */
  readonly reached: number;
  readonly known: KnownFigures | undefined;
}

interface KnownFigures {
  readonly status: Figures['status'];
  readonly project: string | undefined;
  readonly title: string | undefined;
  readonly goal: string | undefined;
  /** 0 for a session with a stalled task, 1 for one that waits for a person, else 2. */
  readonly rank: number;
  /** The figures as JSON. */
  readonly text: string;
}

/** An event is heard of a moment before it can be read: what was read sooner than that after it may be without it. */
const SETTLED_MS = 2000;

interface KeptRow extends Row {
  at: number;
  sequence: number;
  stored: number;
  known: KnownFigures | undefined;
  /** When it was last heard to move, where that may not be in the figures; else 0. */
  heard: number;
  /** Whether `at` only stands in for a time that nobody knows. */
  isGuessed: boolean;
  reached: number;
}

export class SessionTable {
  readonly #rows = new Map<Token, KeptRow>();
  /** Those with `heard`, or whose log is known to be ahead of the figures, the one that moved last at the end. */
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

  /** Sessions whose figures may be behind, the one that moved last at the end. */
  get stale(): ReadonlySet<Row> {
    return this.#stale;
  }

  /** Whether its figures may be behind. */
  isStale(row: Row): boolean {
    return (this.#stale as ReadonlySet<Row>).has(row);
  }

  /** An event of the session was published. */
  moved(session: Token): void {
    const row = this.#row(session);
    const now = this.#now();
    movedAt(row, now);
    row.heard = now;
    this.#stale.delete(row);
    this.#stale.add(row);
  }

  /** Its entry stands in the index. */
  stored(entry: SessionIndexEntry): void {
    const { sequence, at, figures } = entry;
    // `figures` was read by its schema, which lets only a token through where one wrote it.
    const row = this.#row(figures.session as Token);
    row.stored = Math.max(row.stored, sequence);
    movedAt(row, Date.parse(at));
    // Who wrote it has folded the session a moment ago.
    this.#figures(row, sequence, figures, this.#now() - SETTLED_MS);
  }

  /** It was folded here. @param begun when, by the clock of the table */
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

  /** The index was lost: no session has an entry any longer. */
  indexLost(): void {
    for (const row of this.#rows.values()) row.stored = 0;
  }

  /**
   * How far all logs had come at a time: others are gone. Those without a leader stay as they were known.
   *
   * @param begun when the look at them began, by the clock of the table
   * @returns the sessions that are ahead of their entry in the index, the one that moved last first, and those whose entry
   * is left although their log is gone
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
      // Of one that is new here nobody knows when it moved: until now, or it might be taken for an old one.
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

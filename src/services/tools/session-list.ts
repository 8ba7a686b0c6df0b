import { z } from 'zod';
import { checkedRequest } from '../../contracts/checked.js';
import { codeOf } from '../../contracts/errors.js';
import { cursorOf, readCursor } from '../../contracts/list-limits.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type { Figures, SessionListed } from '../../contracts/replies/session-reply.js';
import { TOOLS, type ToolArguments } from '../../contracts/tool-requests.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { Logger } from '../../engine/ports/logger.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import { sessionFigures } from '../../memory/session/run-status.js';
import { withinDeadline } from '../../shared/deadline.js';
import { spanMs } from '../../shared/text.js';
import type { Row, SessionTable } from '../common/session-table.js';

/**
 * Answers `session-list` from the table of sessions. What moved a moment ago is folded first, and what the page itself shows;
 * the others are as the keeper found them, seconds ago. Without a keeper, of very many sessions only the newest are folded.
 */
interface SessionListOptions {
  readonly table: SessionTable;
  /** Resolves once the table holds all sessions. */
  readonly caughtUp: () => Promise<void>;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'unfinished'>;
  readonly logger: Logger;
  /** Milliseconds since 1970, as the table has them. */
  readonly now: () => number;
}

/** Of more sessions without figures than this, only the newest are folded for a list. */
const MOST_UNKNOWN = 1000;
/** The same for those that have moved since theirs were written. */
const MOST_STALE = 200;
/** Sessions that are folded at once: folding takes the processor from other requests. */
const AT_ONCE = 4;
/** How long a list waits for figures; what is not folded by then comes as it was, or by name alone. */
const LONGEST_MS = 1500;
/** Folding what a page shows may move it to another one. */
const MOST_ROUNDS = 3;
/** A session that has not moved for so long is not active. */
const ACTIVE_MS = 86_400_000;

type Asked = ToolArguments<'session-list'>;

export class SessionList {
  readonly #options: SessionListOptions;
  readonly #folding = new Map<Token, Promise<void>>();
  readonly #turns = new Semaphore(AT_ONCE);

  constructor(options: SessionListOptions) {
    this.#options = options;
  }

  /** One page of the sessions that fit. */
  async list(request: unknown): Promise<object> {
    const asked = checkedRequest(TOOLS['session-list'].request, request);
    const begin = asked.cursor === undefined ? undefined : placeIn(asked.cursor);
    const { table, caughtUp } = this.#options;
    const end = performance.now() + LONGEST_MS;
    await withinDeadline(LONGEST_MS, caughtUp());
    const folded = new Set<Row>(asked.brief ? [] : newestOf(table.stale));
    await this.#fold([...folded], end);
    let page = this.#page(asked, begin);
    for (let round = 1; round < MOST_ROUNDS && !asked.brief; round += 1) {
      const stale = page.rows.filter((row) => table.isStale(row) && !folded.has(row));
      if (stale.length === 0 || performance.now() >= end) break;
      await this.#fold(stale, end);
      for (const row of stale) folded.add(row);
      page = this.#page(asked, begin);
    }
    const { next } = page;
    return {
      sessions: page.rows.map((row) => this.#listed(row, asked.brief)),
      total: page.total,
      ...(next && { next: cursorOf('sessions', next.rank, next.at, next.session, next.asOf) }),
    };
  }

  #page(asked: Asked, begin: PagePlace | undefined): SessionPage {
    const { table, lifecycle, now } = this.#options;
    const fits = filterOf(asked, now());
    const leaving = new Set(lifecycle.unfinished());
    const page = new SessionPage(asked.limit, begin, now());
    for (const row of table.rows()) {
      const archived = lifecycle.archived(row.session);
      if (archived?.importing !== undefined) continue;
      if (fits(row, archived !== undefined) && !leaving.has(row.session))
        page.offer(row, asked.brief ? 2 : (row.known?.rank ?? 2));
    }
    return page;
  }

  async #fold(rows: readonly Row[], end: number): Promise<void> {
    const left = end - performance.now();
    if (rows.length > 0 && left > 0)
      await withinDeadline(left, Promise.all(rows.map(({ session }) => this.#foldOne(session))));
  }

  #foldOne(session: Token): Promise<void> {
    const running = this.#folding.get(session);
    if (running !== undefined) return running;
    const { reader, table, logger, now } = this.#options;
    const folding = this.#turns
      .run(async () => {
        const begun = now();
        const { state } = (await reader.load(session)).folded;
        table.folded(session, state.sequence, sessionFigures(state), begun);
      })
      .catch((error: unknown) => {
        logger.warn({ session, code: codeOf(error), err: error }, 'a session could not be read for the list');
      })
      .finally(() => this.#folding.delete(session));
    this.#folding.set(session, folding);
    return folding;
  }

  #listed({ session, sequence, reached, at, known }: Row, isBrief: boolean): SessionListed {
    const time = new Date(at).toISOString();
    const archived = this.#options.lifecycle.archived(session);
    if (isBrief || known === undefined)
      return { session, sequence: Math.max(sequence, reached), at: time, brief: true };
    // Written by `SessionTable` from figures.
    const figures = JSON.parse(known.text) as Figures;
    return {
      ...figures,
      ...(archived && { archived: { at: archived.at, ...(archived.reason && { reason: archived.reason }) } }),
      sequence,
      at: time,
      brief: false,
    };
  }
}

/** What is to be folded for any list: what has no figures, and what has moved since; of each the newest. */
function newestOf(stale: ReadonlySet<Row>): Row[] {
  let unknown = 0;
  let known = 0;
  return [...stale].reverse().filter((row) => {
    if (row.known === undefined) unknown += 1;
    else known += 1;
    return row.known === undefined ? unknown <= MOST_UNKNOWN : known <= MOST_STALE;
  });
}

function placeIn(cursor: string): PagePlace {
  const values = [z.literal('sessions'), z.int(), z.number(), z.string(), z.number()] as const;
  const [, rank, at, session, asOf] = readCursor(cursor, values);
  return { rank, at, session, asOf };
}

/** Whether a session is among those that were asked for. */
function filterOf(asked: Asked, now: number): (row: Row, isArchived: boolean) => boolean {
  const { text = '', status, project, stalled, active, archived, olderThan } = asked;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const newest = olderThan === undefined ? Number.POSITIVE_INFINITY : now - spanMs(olderThan);
  const oldest = active ? now - ACTIVE_MS : Number.NEGATIVE_INFINITY;
  const wanted = active ? 'open' : status;
  const asksFigures = wanted !== undefined || project !== undefined || stalled;
  const wantedProject = project === undefined ? undefined : projectOf(project);
  return ({ session, at, known }, isArchived) => {
    if (isArchived !== (status === 'archived') && !(isArchived && archived && !active)) return false;
    if (at < oldest || at >= newest) return false;
    if (known === undefined || asked.brief) {
      if (asksFigures && status !== 'archived') return false;
      return words.every((word) => session.toLowerCase().includes(word));
    }
    if (wanted !== undefined && wanted !== 'archived' && known.status !== wanted) return false;
    // One that names none is of the default project.
    if (wantedProject !== undefined && projectOf(known.project) !== wantedProject) return false;
    if (stalled && known.rank !== 0) return false;
    if (words.length === 0) return true;
    const { title = '', goal = '' } = known;
    const said = `${session} ${title} ${known.project ?? ''} ${goal}`.toLowerCase();
    return words.every((word) => said.includes(word));
  };
}

/** Where a page ended. */
interface PagePlace {
  /** 0 for stalled sessions, 1 for those that wait, 2 for the others, 3 for those that moved since the first page. */
  readonly rank: number;
  /** When the session moved last, in milliseconds since 1970. */
  readonly at: number;
  readonly session: string;
  /** When the first page was made. */
  readonly asOf: number;
}

const MOVED_SINCE = 3;

/**
 * Picks a page from all sessions in one pass: stalled ones first, then those that wait, then the others, each the newest
 * first.
 *
 * Sessions move while someone pages. One that moved since the first page comes after all others, in the order of names: it
 * may come twice, and is never passed over.
 */
class SessionPage {
  readonly #limit: number;
  readonly #begin: PagePlace | undefined;
  readonly #best: { readonly row: Row; readonly place: PagePlace }[] = [];
  /** Sessions that fit. */
  total = 0;
  #after = 0;
  #asOf: number;

  /** @param begin where the page before ended; the first page by default */
  constructor(limit: number, begin: PagePlace | undefined, now: number) {
    this.#limit = limit;
    this.#begin = begin;
    this.#asOf = begin?.asOf ?? now;
  }

  offer(row: Row, rank: number): void {
    this.total += 1;
    const { session, at } = row;
    // On the first page nothing has moved since, whatever the clocks of other machines say.
    if (this.#begin === undefined) this.#asOf = Math.max(this.#asOf, at);
    const isLate = this.#begin !== undefined && at > this.#asOf;
    const place = { rank: isLate ? MOVED_SINCE : rank, at, session, asOf: this.#asOf };
    if (this.#begin !== undefined && inOrder(place, this.#begin) <= 0) return;
    this.#after += 1;
    const last = this.#best.at(-1);
    if (this.#best.length === this.#limit && last !== undefined && inOrder(place, last.place) > 0) return;
    let [from, to] = [0, this.#best.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const other = this.#best[middle];
      if (other !== undefined && inOrder(other.place, place) < 0) from = middle + 1;
      else to = middle;
    }
    this.#best.splice(from, 0, { row, place });
    if (this.#best.length > this.#limit) this.#best.pop();
  }

  get rows(): Row[] {
    return this.#best.map(({ row }) => row);
  }

  /** Where the next page begins; none after the last. */
  get next(): PagePlace | undefined {
    const last = this.#best.at(-1)?.place;
    return last && this.#after > this.#best.length ? { ...last, asOf: this.#asOf } : undefined;
  }
}

function inOrder(one: PagePlace, other: PagePlace): number {
  const names = one.session === other.session ? 0 : one.session < other.session ? -1 : 1;
  if (one.rank !== other.rank) return one.rank - other.rank;
  return one.rank === MOVED_SINCE ? names : other.at - one.at || names;
}

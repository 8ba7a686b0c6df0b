import { z } from 'zod';
import type { WordVectorsLoader } from '../../config/load-language-data.js';
import { codeOf, noSuchSession, ThroughlineError } from '../../contracts/errors.js';
import { cursorOf, readCursor } from '../../contracts/list-limits.js';
import { projectOf, type Token, token } from '../../contracts/names.js';
import type { Figures, SessionListed } from '../../contracts/replies/session-reply.js';
import type { RequestValues, ToolReply } from '../../contracts/requests.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import { Semaphore } from '../../engine/runtime/pacing.js';
import { foundInWork, sessionFigures } from '../../memory/session/plan-status.js';
import type { SessionState } from '../../memory/session/session-state.js';
import { recallFrom } from '../../prompt/recall.js';
import { withinDeadline } from '../../shared/deadlines.js';
import { spanMs } from '../../shared/text.js';
import type { Handlers } from '../common/service-shell.js';
import type { Row, SessionTable } from '../common/session-table.js';

/**
 * Answers `session-list` from the table of sessions. Recently moved sessions and those on the page are folded first; the others
 * are as the keeper found them, seconds ago. Without a keeper only the newest of very many sessions are folded.
 */
interface SessionListOptions {
  readonly table: SessionTable;
  /** Resolves once the table is complete. */
  readonly caughtUp: () => Promise<void>;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived' | 'unfinished'>;
  readonly logger: Logger;
  /** The table's clock. */
  readonly now: () => number;
}

/** Maximum number of sessions without figures that are folded for a list, newest first. */
const MOST_UNKNOWN = 1000;
/** The same for sessions with stale figures. */
const MOST_STALE = 200;
/** Concurrent folds, which compete with other requests for the CPU. */
const AT_ONCE = 4;
/** Deadline for folding; sessions not folded by then are listed as they were, or by name alone. */
const LONGEST_MS = 1500;
/** Folding may move a session to another page. */
const MOST_ROUNDS = 3;
/** A session is active until it has been idle for this long. */
const ACTIVE_MS = 86_400_000;

type Asked = RequestValues<'tool.session-list'>;

export class SessionList {
  readonly #options: SessionListOptions;
  readonly #folding = new Map<Token, Promise<void>>();
  readonly #turns = new Semaphore(AT_ONCE);

  constructor(options: SessionListOptions) {
    this.#options = options;
  }

  async list(request: Asked): Promise<ToolReply<'session-list'>> {
    const begin = request.cursor === undefined ? undefined : placeIn(request.cursor);
    const { table, caughtUp } = this.#options;
    const end = performance.now() + LONGEST_MS;
    await withinDeadline(LONGEST_MS, caughtUp());
    const folded = new Set<Row>(request.brief ? [] : newestOf(table.stale, request.names));
    await this.#fold([...folded], end);
    let page = this.#page(request, begin);
    for (let round = 1; round < MOST_ROUNDS && !request.brief; round += 1) {
      const stale = page.rows.filter((row) => table.isStale(row) && !folded.has(row));
      if (stale.length === 0 || performance.now() >= end) break;
      await this.#fold(stale, end);
      for (const row of stale) folded.add(row);
      page = this.#page(request, begin);
    }
    const { next } = page;
    return {
      sessions: page.rows.map((row) => this.#listed(row, request)),
      total: page.total,
      ...(next && { next: cursorAt(next) }),
    };
  }

  #page(request: Asked, begin: PagePlace | undefined): Page {
    const { table, lifecycle, now } = this.#options;
    const fits = filterOf(request, now());
    const leaving = new Set(lifecycle.unfinished());
    const selection = new SessionSelection(request.limit, begin, now());
    for (const row of table.rows()) {
      if (leaving.has(row.session) || !fits(row, lifecycle.archived(row.session) !== undefined)) continue;
      selection.offer(row, request.brief ? 2 : (row.known?.rank ?? 2));
    }
    return selection.page();
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

  #listed({ session, sequence, reached, at, known }: Row, { brief, text }: Asked): SessionListed {
    const time = new Date(at).toISOString();
    const archived = this.#options.lifecycle.archived(session);
    if (brief || known === undefined)
      return { session, sequence: Math.max(sequence, reached), at: time, brief: true };
    // `SessionTable` wrote this text.
    const figures = JSON.parse(known.text) as Omit<Figures, 'work'>;
    const words = wordsOf(text);
    const found = words.length === 0 ? undefined : foundInWork(known.work, words);
    return {
      ...figures,
      ...(found && { found }),
      ...(archived && { archived: { at: archived.at, ...(archived.reason && { reason: archived.reason }) } }),
      sequence,
      at: time,
      brief: false,
    };
  }
}

/** Returns the sessions to fold for any list: those without figures and the stale ones, newest first. */
function newestOf(stale: ReadonlySet<Row>, names: readonly string[] | undefined): Row[] {
  let unknown = 0;
  let known = 0;
  return [...stale].reverse().filter((row) => {
    if (names !== undefined) return names.includes(row.session);
    if (row.known === undefined) unknown += 1;
    else known += 1;
    return row.known === undefined ? unknown <= MOST_UNKNOWN : known <= MOST_STALE;
  });
}

function cursorAt({ rank, at, session, asOf }: PagePlace): string {
  return cursorOf('sessions', rank, at, session, asOf);
}

function placeIn(cursor: string): PagePlace {
  const values = [z.literal('sessions'), z.int(), z.number(), z.string(), z.number()] as const;
  const [, rank, at, session, asOf] = readCursor(cursor, values);
  return { rank, at, session, asOf };
}

function filterOf(request: Asked, now: number): (row: Row, isArchived: boolean) => boolean {
  const { text, status, project, stalled, active, archived, olderThan, since } = request;
  const words = wordsOf(text);
  const newest = olderThan === undefined ? Number.POSITIVE_INFINITY : now - spanMs(olderThan);
  const oldest = Math.max(
    active ? now - ACTIVE_MS : Number.NEGATIVE_INFINITY,
    since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since),
  );
  const wanted = active ? 'open' : status;
  const asksFigures = wanted !== undefined || project !== undefined || stalled;
  const wantedProject = project === undefined ? undefined : projectOf(project);
  return ({ session, at, known }, isArchived) => {
    if (request.names?.includes(session) === false) return false;
    if (isArchived !== (status === 'archived') && !(isArchived && archived && !active)) return false;
    if (at < oldest || at >= newest) return false;
    if (known === undefined || request.brief) {
      if (asksFigures && status !== 'archived') return false;
      return words.every((word) => session.toLowerCase().includes(word));
    }
    if (wanted !== undefined && wanted !== 'archived' && known.status !== wanted) return false;
    // Sessions without a project belong to the default project.
    if (wantedProject !== undefined && projectOf(known.project) !== wantedProject) return false;
    if (stalled && !known.isStalled) return false;
    const missing = words.filter((word) => !known.searchText.includes(word));
    if (missing.length === 0) return true;
    const work = known.work.toLowerCase();
    return missing.every((word) => work.includes(word));
  };
}

function wordsOf(text = ''): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** The position of the last entry of a page. */
interface PagePlace {
  /** 0 stalled, 1 waiting for a person, 2 others, 3 moved since the first page. */
  readonly rank: number;
  /** Time of the session's last event, in milliseconds since 1970. */
  readonly at: number;
  readonly session: string;
  /** Time of the first page. */
  readonly asOf: number;
}

const MOVED_SINCE = 3;

interface Page {
  readonly rows: readonly Row[];
  readonly total: number;
  /** Place of the last entry, if more follow. */
  readonly next: PagePlace | undefined;
}

interface Selected {
  readonly row: Row;
  readonly place: Omit<PagePlace, 'asOf'>;
}

/**
 * Selects the next sessions in one pass: stalled sessions first, then those that wait, then the others, newest first.
 *
 * Sessions move while someone pages. One that moved since the first page comes after all others, by name: it may appear twice,
 * but is never skipped.
 */
class SessionSelection {
  readonly #limit: number;
  readonly #begin: PagePlace | undefined;
  readonly #best: Selected[] = [];
  /** Place of the last session that is selected, once there are enough. */
  #last: Selected['place'] | undefined;
  #total = 0;
  #after = 0;
  #asOf: number;

  /** @param begin end of the previous page; default: the first page */
  constructor(limit: number, begin: PagePlace | undefined, now: number) {
    this.#limit = limit;
    this.#begin = begin;
    this.#asOf = begin?.asOf ?? now;
  }

  offer(row: Row, rank: number): void {
    this.#total += 1;
    const { session, at } = row;
    // On the first page nothing has moved since, whatever other clocks say.
    if (this.#begin === undefined) this.#asOf = Math.max(this.#asOf, at);
    const isLate = this.#begin !== undefined && at > this.#asOf;
    const rankNow = isLate ? MOVED_SINCE : rank;
    // Without an object: this runs for every session.
    if (this.#begin !== undefined && inOrder(rankNow, at, session, this.#begin) <= 0) return;
    this.#after += 1;
    if (this.#last !== undefined && inOrder(rankNow, at, session, this.#last) > 0) return;
    this.#best.push({ row, place: { rank: rankNow, at, session } });
    if (this.#best.length === 2 * this.#limit) this.#cut();
  }

  #cut(): void {
    this.#best.sort((a, { place }) => inOrder(a.place.rank, a.place.at, a.place.session, place));
    if (this.#best.length < this.#limit) return;
    this.#best.length = this.#limit;
    this.#last = this.#best.at(-1)?.place;
  }

  page(): Page {
    this.#cut();
    const last = this.#best.at(-1)?.place;
    const isMore = this.#after > this.#best.length;
    return {
      rows: this.#best.map(({ row }) => row),
      total: this.#total,
      next: last !== undefined && isMore ? { ...last, asOf: this.#asOf } : undefined,
    };
  }
}

function inOrder(rank: number, at: number, session: string, other: Selected['place']): number {
  if (rank !== other.rank) return rank - other.rank;
  const names = session === other.session ? 0 : session < other.session ? -1 : 1;
  return rank === MOVED_SINCE ? names : other.at - at || names;
}

/** Maximum number of sessions that are searched: each is folded for it. */
const MOST_SESSIONS = 100;
/** Every session, archived ones too; without their figures the newest come first. */
const ANY = { brief: true, archived: true, active: false, stalled: false, limit: MOST_SESSIONS };

/** Searches what one session remembers, or the sessions of a project. */
export function createRecall(
  reader: Pick<SessionReader, 'load'>,
  list: Pick<SessionList, 'list'>,
  wordVectors: WordVectorsLoader,
): Handlers<'tool.recall'>['tool.recall'] {
  const stateOf = async (session: Token): Promise<SessionState> => (await reader.load(session)).folded.state;
  return async ({ session, project, ...query }) => {
    if (session !== undefined && project !== undefined)
      throw new ThroughlineError(
        'schema_invalid',
        'project: cannot be combined with session, which is searched alone: leave one of them out',
        { details: { fields: ['project'] } },
      );
    const ofProject = project !== undefined && { project, brief: false };
    const { sessions, total } =
      session === undefined
        ? await list.list({ ...ANY, ...ofProject })
        : { sessions: [{ session }], total: 1 };
    const states = await Promise.all(sessions.map(({ session: name }) => stateOf(token(name, 'session'))));
    if (session !== undefined && states[0]?.sequence === 0) throw noSuchSession(session);
    return {
      ...recallFrom(states, query, await wordVectors()),
      searched: states.length,
      sessions: total,
    };
  };
}

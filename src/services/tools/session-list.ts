import { z } from 'zod';
import type { WordVectorsLoader } from '../../config/load-word-vectors.js';
import { cursorOf, readCursor } from '../../contracts/checked.js';
import { codeOf, noSuchSession, ThroughlineError } from '../../contracts/errors.js';
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
import { insertSorted } from '../../shared/collections.js';
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

type ListRequest = RequestValues<'tool.session-list'>;

export class SessionList {
  readonly #options: SessionListOptions;
  readonly #folding = new Map<Token, Promise<void>>();
  readonly #turns = new Semaphore(AT_ONCE);

  constructor(options: SessionListOptions) {
    this.#options = options;
  }

  async list(request: ListRequest): Promise<ToolReply<'session-list'>> {
    const begin = request.cursor === undefined ? undefined : placeIn(request.cursor);
    const { table, caughtUp } = this.#options;
    const end = performance.now() + LONGEST_MS;
    await withinDeadline(LONGEST_MS, caughtUp());
    const folded = new Set<Row>(request.brief ? [] : newestOf(table.stale, request.names));
    await this.#fold([...folded], end);
    let page = this.#page(request, begin);
    for (let round = 1; round < MOST_ROUNDS && !request.brief; round += 1) {
      const stale = page.rows.filter((row) => table.stale.has(row) && !folded.has(row));
      if (stale.length === 0 || performance.now() >= end) break;
      await this.#fold(stale, end);
      for (const row of stale) folded.add(row);
      page = this.#page(request, begin);
    }
    const { next } = page;
    return {
      sessions: page.rows.map((row) => this.#listed(row, request)),
      total: page.total,
      ...(next && { next: cursorOf('sessions', next.rank, next.at, next.session, next.asOf) }),
    };
  }

  #page(request: ListRequest, begin: PagePlace | undefined): Page {
    const { table, lifecycle, now } = this.#options;
    const fits = filterOf(request, now());
    const leaving = new Set(lifecycle.unfinished());
    const best: Selected[] = [];
    let [total, following, asOf] = [0, 0, begin?.asOf ?? now()];
    for (const row of table.rows()) {
      const { session, at } = row;
      if (leaving.has(session) || !fits(row, lifecycle.archived(session) !== undefined)) continue;
      total += 1;
      // On the first page nothing has moved since, whatever other clocks say.
      if (begin === undefined) asOf = Math.max(asOf, at);
      const rank = at > asOf ? MOVED_SINCE : request.brief ? 2 : (row.known?.rank ?? 2);
      const place = { row, rank, at, session };
      if (begin !== undefined && inOrder(place, begin) <= 0) continue;
      following += 1;
      insertSorted(best, place, request.limit, (one, other) => inOrder(one, other) < 0);
    }
    const last = best.at(-1);
    const next = last !== undefined && following > best.length ? { ...last, asOf } : undefined;
    return { rows: best.map(({ row }) => row), total, next };
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

  #listed({ session, sequence, reached, at, known }: Row, { brief, text }: ListRequest): SessionListed {
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

function placeIn(cursor: string): PagePlace {
  const values = [z.literal('sessions'), z.int(), z.number(), z.string(), z.number()] as const;
  const [, rank, at, session, asOf] = readCursor(cursor, values);
  return { rank, at, session, asOf };
}

function filterOf(request: ListRequest, now: number): (row: Row, isArchived: boolean) => boolean {
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

interface PagePlace {
  /** 0 stalled, 1 waiting for a person, 2 others, 3 moved since the first page. */
  readonly rank: number;
  /** Time of the session's last event, in milliseconds since 1970. */
  readonly at: number;
  readonly session: string;
  readonly asOf: number;
}

const MOVED_SINCE = 3;

interface Page {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly next: PagePlace | undefined;
}

interface Selected extends Omit<PagePlace, 'asOf'> {
  readonly row: Row;
}

/**
 * Compares positions: stalled sessions come first, then those that wait, then the others, newest first.
 *
 * Sessions move while someone pages. One that moved since the first page comes after all others, by name: it may appear twice,
 * but is never skipped.
 */
function inOrder(one: Omit<PagePlace, 'asOf'>, other: Omit<PagePlace, 'asOf'>): number {
  if (one.rank !== other.rank) return one.rank - other.rank;
  const names = one.session === other.session ? 0 : one.session < other.session ? -1 : 1;
  return one.rank === MOVED_SINCE ? names : other.at - one.at || names;
}

/** Maximum number of sessions that are searched: each is folded for it. */
const MOST_SESSIONS = 100;
/** Every session, archived ones too; without their figures the newest come first. */
const ANY = { brief: true, archived: true, active: false, stalled: false, limit: MOST_SESSIONS };

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
    return { ...recallFrom(states, query, await wordVectors()), searched: states.length, sessions: total };
  };
}

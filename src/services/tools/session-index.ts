import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { checkedRequest } from '../../contracts/checked.js';
import { codeOf } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { cursorOf, readCursor } from '../../contracts/page-cursor.js';
import type { SessionFigures, SessionListed } from '../../contracts/replies/session-list-reply.js';
import { TOOLS, type ToolArguments } from '../../contracts/tool-requests.js';
import type { SessionReader } from '../../folding/session-folding.js';
import type { Logger } from '../../ports/logger.js';
import type { ActiveSession, SessionActivity } from '../../ports/session-activity.js';
import { Semaphore } from '../../runtime/semaphore.js';
import { sessionFigures } from '../../session/session-figures.js';
import { withinDeadline } from '../../shared/deadline.js';

/**
 * Answers `session-list`. The figures of a session are remembered until its log moves: a list reads only the sessions that
 * have moved since the last one, and of very many only the newest.
 */
export interface SessionIndexOptions {
  readonly log: Pick<SessionActivity, 'activity'>;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly logger: Logger;
}

/** Of more sessions than this, only the newest are read. */
const MOST_READ = 1000;
/** Sessions whose figures are remembered. */
const MOST_KEPT = 2000;
/** Sessions that are read at once: folding takes the processor from other requests. */
const AT_ONCE = 4;
/** How long a list waits for figures; what is not read by then comes by name, and is read for the next list. */
const LONGEST_MS = 1500;
/** How old the list of sessions may be for a further page. */
const LISTING_MS = 2000;

type Asked = ToolArguments<'session-list'>;

interface Kept {
  readonly sequence: number;
  readonly figures: ReturnType<typeof sessionFigures>;
}

interface Ranked {
  readonly listed: SessionListed;
  readonly rank: number;
}

export class SessionIndex {
  readonly #options: SessionIndexOptions;
  readonly #kept = new LRUCache<Token, Kept>({ max: MOST_KEPT });
  readonly #reading = new Map<Token, Promise<void>>();
  readonly #turns = new Semaphore(AT_ONCE);
  #listing: { readonly at: number; readonly sessions: Promise<ActiveSession[]> } | undefined;

  constructor(options: SessionIndexOptions) {
    this.#options = options;
  }

  /** One page of the sessions that fit. */
  async list(request: unknown): Promise<object> {
    const asked = checkedRequest(TOOLS['session-list'].request, request);
    const begin = asked.cursor === undefined ? undefined : placeIn(asked.cursor);
    const sessions = await this.#activity(begin === undefined ? 0 : LISTING_MS);
    if (!asked.brief) await withinDeadline(LONGEST_MS, this.#refresh(sessions.slice(0, MOST_READ)));
    const fitting = sessions
      .map((activity) => ranked(this.#listed(activity, asked.brief)))
      .filter(({ listed }) => fits(listed, asked))
      .sort(inOrder);
    const from = begin === undefined ? 0 : fitting.findIndex((each) => inOrder(each, begin) > 0);
    const page = from < 0 ? [] : fitting.slice(from, from + asked.limit);
    const last = page.at(-1);
    const isLast = last === undefined || from + page.length >= fitting.length;
    return {
      sessions: page.map(({ listed }) => listed),
      total: fitting.length,
      ...(!isLast && { next: cursorOf('sessions', last.rank, last.listed.at, last.listed.session) }),
    };
  }

  /** All sessions, the one that moved last first. Requests that come together share one look. */
  #activity(oldestMs: number): Promise<ActiveSession[]> {
    const now = performance.now();
    if (this.#listing !== undefined && now - this.#listing.at <= oldestMs) return this.#listing.sessions;
    const sessions = this.#options.log
      .activity()
      .then((found) => found.sort((one, other) => (one.at < other.at ? 1 : -1)));
    this.#listing = { at: now, sessions };
    return sessions;
  }

  async #refresh(sessions: readonly ActiveSession[]): Promise<void> {
    const moved = sessions.filter(
      ({ session, sequence }) => (this.#kept.peek(session)?.sequence ?? -1) < sequence,
    );
    await Promise.all(moved.map(({ session }) => this.#read(session)));
  }

  #read(session: Token): Promise<void> {
    const running = this.#reading.get(session);
    if (running !== undefined) return running;
    const { reader, logger } = this.#options;
    const reading = this.#turns
      .run(async () => {
        const { state } = (await reader.load(session)).folded;
        this.#kept.set(session, { sequence: state.sequence, figures: sessionFigures(state) });
      })
      .catch((error: unknown) => {
        logger.warn({ session, code: codeOf(error), err: error }, 'a session could not be read for the list');
      })
      .finally(() => this.#reading.delete(session));
    this.#reading.set(session, reading);
    return reading;
  }

  #listed({ session, sequence, at }: ActiveSession, isBrief: boolean): SessionListed {
    const kept = isBrief ? undefined : this.#kept.get(session);
    if (kept === undefined) return { session, sequence, at, brief: true };
    return { ...kept.figures, sequence: kept.sequence, at, brief: false };
  }
}

function ranked(listed: SessionListed): Ranked {
  if (listed.brief || (listed.stalled.length === 0 && listed.waiting.length === 0))
    return { listed, rank: 2 };
  return { listed, rank: listed.stalled.length > 0 ? 0 : 1 };
}

type Place = Pick<Ranked, 'rank'> & { readonly listed: Pick<SessionListed, 'session' | 'at'> };

/** Stalled ones first, then those that wait, then the others; each the newest first. */
function inOrder(one: Place, other: Place): number {
  return (
    one.rank - other.rank ||
    compared(other.listed.at, one.listed.at) ||
    compared(one.listed.session, other.listed.session)
  );
}

function compared(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function placeIn(cursor: string): Place {
  const values = [z.literal('sessions'), z.int(), z.string(), z.string()] as const;
  const [, rank, at, session] = readCursor(cursor, values);
  return { rank, listed: { at, session } };
}

function fits(listed: SessionListed, { text = '', status, project, stalled }: Asked): boolean {
  const words = text.toLowerCase().split(/\s+/);
  const said = listed.brief ? listed.session : saidBy(listed);
  if (!words.every((word) => said.toLowerCase().includes(word))) return false;
  if (listed.brief) return status === undefined && project === undefined && !stalled;
  return (
    (status === undefined || listed.status === status) &&
    (project === undefined || listed.project === project) &&
    (!stalled || listed.stalled.length > 0)
  );
}

function saidBy({ session, project = '', goal = '' }: SessionFigures): string {
  return `${session} ${project} ${goal}`;
}

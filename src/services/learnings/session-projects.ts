import { LRUCache } from 'lru-cache';
import { projectOf, type Token } from '../../contracts/names.js';
import type { SessionReader } from '../../folding/session-folding.js';
import type { SessionLog } from '../../ports/session-log.js';

export interface SessionProjectsOptions {
  readonly log: SessionLog;
  readonly sessions: SessionReader;
  /** Sessions whose project is remembered; others are folded again. */
  readonly maxKnown: number;
  /** Names the life of a session: what is known of another one is not used. Default: each has one. */
  readonly lifeOf?: (session: Token) => string;
}

interface Known {
  /** The name in the last opening that has one. */
  readonly project: string | undefined;
  /** Up to where the log has been read, and which log it was. */
  readonly through: number;
  readonly epoch: string | undefined;
  readonly life: string;
}

/**
 * The project of a session. A session is folded once for it, snapshot and all; after that it is only asked for openings,
 * since nothing else changes its project, and folded again when there is one.
 */
export class SessionProjects {
  readonly #options: SessionProjectsOptions;
  readonly #known: LRUCache<Token, Known>;

  constructor(options: SessionProjectsOptions) {
    this.#options = options;
    this.#known = new LRUCache({ max: options.maxKnown });
  }

  /** @throws ThroughlineError `unavailable` when the log cannot be reached */
  async projectOf(session: Token): Promise<Token> {
    const known =
      (await this.#unopenedSince(session, this.#known.get(session))) ?? (await this.#fold(session));
    this.#known.set(session, known);
    return projectOf(known.project);
  }

  /** The known project; `undefined` if there are newer openings, or another log in the place of this one. */
  async #unopenedSince(session: Token, known: Known | undefined): Promise<Known | undefined> {
    if (known === undefined || known.life !== this.#lifeOf(session)) return undefined;
    const range = { after: known.through, type: 'session.opened' };
    const { events, epoch } = await this.#options.log.read(session, range);
    // Whether an opening counts depends on other commands: the fold knows.
    return events.length > 0 || epoch !== known.epoch ? undefined : known;
  }

  #lifeOf(session: Token): string {
    return this.#options.lifeOf?.(session) ?? '';
  }

  async #fold(session: Token): Promise<Known> {
    const { state, epoch, life } = (await this.#options.sessions.load(session)).folded;
    return { project: state.charter.project, through: state.sequence, epoch, life };
  }
}

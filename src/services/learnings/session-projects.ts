import { LRUCache } from 'lru-cache';
import { counts } from '../../contracts/event.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type { SessionReader } from '../../folding/session-folding.js';
import type { SessionLog } from '../../ports/session-log.js';

export interface SessionProjectsOptions {
  readonly log: SessionLog;
  readonly sessions: SessionReader;
  /** Sessions whose project is remembered; others are folded again. */
  readonly maxKnown: number;
}

interface Known {
  /** The name in the last opening that has one. */
  readonly project: string | undefined;
  /** Up to where the log has been read, and which log it was. */
  readonly through: number;
  readonly epoch: string | undefined;
}

/**
 * The project of a session. A session is folded once for it, snapshot and all; after that only its openings are
 * read, since nothing else changes its project.
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
    const known = (await this.#openedSince(session, this.#known.get(session))) ?? (await this.#fold(session));
    this.#known.set(session, known);
    return projectOf(known.project);
  }

  /** The known project, updated by newer openings; `undefined` if another log has taken the place of this one. */
  async #openedSince(session: Token, known: Known | undefined): Promise<Known | undefined> {
    if (known === undefined) return undefined;
    const range = { after: known.through, type: 'session.opened' };
    const { events, through, epoch } = await this.#options.log.read(session, range);
    if (epoch !== known.epoch) return undefined;
    let { project, through: last } = known;
    for (const stored of events) {
      if (stored.event.type !== 'session.opened' || !counts(stored, last)) continue;
      last = stored.sequence;
      project = stored.event.data.project || project;
    }
    return { project, through, epoch };
  }

  async #fold(session: Token): Promise<Known> {
    const { state, epoch } = (await this.#options.sessions.load(session)).folded;
    return { project: state.charter.project, through: state.sequence, epoch };
  }
}

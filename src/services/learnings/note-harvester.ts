import { codeOf } from '../../contracts/errors.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type { ProjectCommander, ProjectReader, SessionReader } from '../../engine/folding/session-folding.js';
import type { Logger } from '../../engine/ports/clients.js';
import { Backoff } from '../../engine/runtime/batched.js';
import { noteProposals } from '../../memory/learnings/harvest.js';
import type { LearningState } from '../../memory/learnings/learnings-state.js';
import { notesOf } from '../../memory/session/notebook.js';
import { type Forgetting, generationGuard } from '../common/open-sessions.js';
import { proposing } from './review-harvest.js';

/**
 * Proposes learnings from the notes of a session in the background. Each round looks at all notes, so that one missed by a
 * crash is proposed with the next; known ones are skipped.
 */
interface NoteHarvesterOptions {
  readonly sessions: SessionReader;
  readonly projects: ProjectReader;
  readonly command: ProjectCommander;
  /** Default: no session is forgotten. */
  readonly lifecycle?: Forgetting;
  readonly logger: Logger;
  /** First backoff in milliseconds. Default: 500. */
  readonly pauseMs?: number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 64_000;
const MAX_FAILURES = 8;

export class NoteHarvester {
  readonly #options: NoteHarvesterOptions;
  readonly #stopping = new AbortController();
  /** The running round of each session, and whether another one is requested. */
  readonly #rounds = new Map<Token, { again: boolean; done: Promise<void> }>();

  constructor(options: NoteHarvesterOptions) {
    this.#options = options;
  }

  schedule(session: Token): void {
    const running = this.#rounds.get(session);
    if (running !== undefined) {
      running.again = true;
      return;
    }
    const round = { again: false, done: Promise.resolve() };
    round.done = this.#run(session, round);
    this.#rounds.set(session, round);
  }

  /** Waits for the running rounds, without retries. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#rounds.values()].map(({ done }) => done));
  }

  async #run(session: Token, round: { again: boolean }): Promise<void> {
    const { logger, pauseMs = FIRST_PAUSE_MS } = this.#options;
    const { signal } = this.#stopping;
    const backoff = new Backoff(pauseMs, LONGEST_PAUSE_MS);
    for (let failures = 0; ; ) {
      if (round.again) {
        failures = 0;
        backoff.reset();
      }
      round.again = false;
      try {
        await this.#harvest(session);
        if (!round.again) break;
      } catch (error) {
        failures += 1;
        const isOver = failures > MAX_FAILURES && !round.again;
        const fields = { session, code: codeOf(error), failures, err: error };
        logger.warn(
          fields,
          `notes not proposed: tried again ${isOver ? '' : 'soon, and '}with the next note`,
        );
        if (isOver) break;
        await backoff.pause(signal);
        if (signal.aborted) break;
      }
    }
    // Synchronous with the last look at `again`: a later request starts a new round.
    this.#rounds.delete(session);
  }

  async #harvest(session: Token): Promise<void> {
    const { sessions, projects, command, lifecycle } = this.#options;
    const assertSameGeneration = await generationGuard(lifecycle, session);
    const known = (await sessions.load(session)).folded.state;
    const project = projectOf(known.charter.project);
    const notes = [...notesOf(known).values()];
    const due = (state: LearningState) => noteProposals(state, session, notes);
    const { state } = (await projects.load(project)).folded;
    for (const _ of due(state)) {
      await assertSameGeneration();
      await command(project, 'propose', proposing(due));
    }
  }
}

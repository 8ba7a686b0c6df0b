import { codeOf } from '../../contracts/errors.js';
import { projectOf, type Token } from '../../contracts/names.js';
import type { ProjectCommander, ProjectReader, SessionReader } from '../../engine/folding/session-folding.js';
import type { Logger } from '../../engine/ports/clients.js';
import { noteProposals } from '../../memory/learnings/harvest.js';
import type { LearningState } from '../../memory/learnings/learnings-state.js';
import { notesOf } from '../../memory/session/notebook.js';
import { type Forgetting, generationGuard } from '../common/open-sessions.js';
import { proposing } from './review-harvest.js';

interface NoteHarvesterOptions {
  readonly sessions: SessionReader;
  readonly projects: ProjectReader;
  readonly command: ProjectCommander;
  /** Default: no session is forgotten. */
  readonly lifecycle?: Forgetting;
  readonly logger: Logger;
}

/**
 * Proposes learnings from the notes of a session in the background. Each round looks at all notes, so that one missed by a
 * crash or a fault is proposed with the next; known ones are skipped.
 */
export class NoteHarvester {
  readonly #options: NoteHarvesterOptions;
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

  /** Waits for the running rounds. */
  async stop(): Promise<void> {
    await Promise.all([...this.#rounds.values()].map(({ done }) => done));
  }

  async #run(session: Token, round: { again: boolean }): Promise<void> {
    do {
      round.again = false;
      try {
        await this.#harvest(session);
      } catch (error) {
        const fields = { session, code: codeOf(error), err: error };
        this.#options.logger.warn(fields, 'notes not proposed: tried again with the next note');
      }
    } while (round.again);
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

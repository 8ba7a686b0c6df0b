import { beingForgotten, codeOf } from '../../contracts/errors.js';
import { EVENT_VERSION, type Unstamped } from '../../contracts/event.js';
import type { LearningEvent } from '../../contracts/learning-events.js';
import { projectOf, type Token } from '../../contracts/names.js';
import { type RoleResult, resultKey } from '../../contracts/results.js';
import type { ProjectCommander, ProjectReader, SessionReader } from '../../engine/folding/session-folding.js';
import type { DispatchDelivery } from '../../engine/ports/dispatch-source.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import type { LearningLog } from '../../engine/ports/session-log.js';
import { batched } from '../../engine/runtime/pacing.js';
import type { LearningDecision } from '../../memory/learnings/decide-learning.js';
import { demandsOf, dueProposals, noteProposals } from '../../memory/learnings/harvest.js';
import type { LearningState } from '../../memory/learnings/learnings-state.js';
import { notesOf } from '../../memory/session/notebook.js';
import { admission, type Forgetting, generationGuard } from '../common/process-parts.js';

interface ReviewHarvestOptions {
  readonly learnings: LearningLog;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly projects: ProjectReader;
  readonly inBackground: ProjectCommander;
  /** Number of tasks that must make a demand before it is proposed. */
  readonly recurrence: number;
  readonly lifecycle?: Forgetting;
}

export interface StoredReview {
  readonly session: Token;
  readonly returned: RoleResult;
  readonly delivery: Pick<DispatchDelivery, 'sequence' | 'at' | 'messageId'>;
}

export type ReviewHarvest = (review: StoredReview) => Promise<void>;

/**
 * Learns from reviews: records the demands of each in the project's log, and proposes what was demanded in enough tasks.
 *
 * The extractor hands a review over after storing its event and before acknowledging it. After a crash in between the
 * dispatch is redelivered and handed over again: the fold counts the demands of a dispatch once.
 */
export function reviewHarvest(options: ReviewHarvestOptions): ReviewHarvest {
  const { learnings, reader, projects, inBackground, recurrence, lifecycle } = options;
  return async ({ session, returned, delivery }) => {
    const project = projectOf((await reader.load(session)).folded.state.charter.project);
    const demands = demandsOf(project, returned.result);
    if (demands.length === 0) return;
    const { sequence: dispatch, at } = delivery;
    const data = { session, dispatch, task: returned.result.task_id, demands };
    const event: LearningEvent = { v: EVENT_VERSION, type: 'observed', at, data };
    // A republished review is the same review.
    const key = resultKey(returned, delivery.messageId);
    const name = key === undefined ? String(dispatch) : `${session}:${key}`;
    await lifecycle?.refreshed();
    if (admission(lifecycle, session, dispatch) !== 'counts') throw beingForgotten(session);
    await learnings.append(project, event, { messageId: `observed:${name}` });
    const { state } = (await projects.load(project)).folded;
    const ids = demands.map(({ id }) => id);
    for (const { data: due } of dueProposals(state, ids, recurrence)) {
      const again = (current: LearningState) => dueProposals(current, [due.proposal], recurrence);
      await inBackground(project, 'propose', proposing(again));
    }
  };
}

/** Decides to append the first event that is still due; another process may have been first. */
export function proposing(due: (state: LearningState) => readonly Unstamped<LearningEvent>[]) {
  return (state: LearningState): LearningDecision => {
    const [event] = due(state);
    const reply = () => ({});
    return event === undefined ? { kind: 'answer', reply } : { kind: 'append', event, reply };
  };
}

interface NoteHarvesterOptions {
  readonly reader: Pick<SessionReader, 'load'>;
  readonly projects: ProjectReader;
  readonly inBackground: ProjectCommander;
  readonly lifecycle?: Forgetting;
  readonly logger: Logger;
}

/** Keeps proposals in step with notes in the background. Each round reads all notes of a session, so that none is missed. */
export function noteHarvester(options: NoteHarvesterOptions) {
  const { reader, projects, inBackground, lifecycle, logger } = options;
  const harvest = async (session: Token) => {
    const assertSameGeneration = await generationGuard(lifecycle, session);
    const known = (await reader.load(session)).folded.state;
    const project = projectOf(known.charter.project);
    const notes = [...notesOf(known).values()];
    const due = (state: LearningState) => noteProposals(state, session, notes);
    const { state } = (await projects.load(project)).folded;
    for (const _ of due(state)) {
      await assertSameGeneration();
      await inBackground(project, 'propose', proposing(due));
    }
  };
  const round = batched(async (sessions: readonly Token[]) => {
    for (const session of new Set(sessions))
      await harvest(session).catch((error: unknown) => {
        const fields = { session, code: codeOf(error), err: error };
        logger.warn(fields, 'notes not proposed: tried again with the next note');
      });
  });
  let newest = Promise.resolve();
  return {
    schedule(session: Token): void {
      newest = round(session);
    },
    stop: () => newest,
  };
}

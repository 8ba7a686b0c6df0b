import { ThroughlineError } from '../../contracts/errors.js';
import { originalOf, type SessionEvent } from '../../contracts/session-events.js';
import type { Clock } from '../../engine/ports/logger-and-clock.js';
import { foundFact } from '../../memory/facts/found-facts.js';
import { learningsCheckpoint, withoutText } from '../../memory/learnings/learnings-snapshot.js';
import type { LearningState } from '../../memory/learnings/learnings-state.js';
import { refuseArchived } from '../../memory/session/commands/lifecycle-commands.js';
import { answer, append } from '../../memory/session/commands/session-decision.js';
import { erasedState, markOf, overwriting } from '../../memory/session/erased-state.js';
import { sessionFigures } from '../../memory/session/plan-status.js';
import type { SessionState } from '../../memory/session/session-state.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { Projects } from '../common/process-parts.js';
import type { Sessions } from '../common/service-context.js';
import type { Handler } from '../common/service-shell.js';
import { corrections, theFact } from '../tools/session-queries.js';
import { checkpoint, maxEventBytes } from './archive-session.js';
import { checkpointProject } from './forget-session.js';
import { asHistory } from './session-transfer.js';

type ErasePorts = Pick<Sessions, 'reader' | 'command' | 'writer'> &
  Pick<NatsPorts, 'log' | 'index' | 'eraser' | 'connection' | 'learnings'> & {
    readonly clock: Clock;
    readonly projects: Projects['reader'];
    readonly inBackground: Projects['inBackground'];
  };

const CHECKPOINT_ATTEMPTS = 20;

/**
 * Erases the text of a statement. A checkpoint with the overwritten state becomes the session's state, and lists what is to be
 * erased: the events that have the text, and their raw results. Copies of those events, overwritten, are appended as history, which
 * changes nothing and stands where they were; then the originals and all compiled prompts are erased, and snapshot, index entry and their files written again.
 * After a crash the same request erases what the checkpoint lists. Prompts as of an earlier sequence are gone.
 */
export function createEraseTool(ports: ErasePorts): Handler<'tool.fact-erase'> {
  const { log, reader, command, writer, index, eraser, clock } = ports;
  return async ({ session, id, by }) => {
    const { state } = (await reader.load(session)).folded;
    const { ref, object, sourceSequence, retracted, note, answer: given } = theFact(state, id);
    if (ref === undefined)
      throw new ThroughlineError(
        'schema_invalid',
        `id: ${id} is not a statement: those have an id such as M7`,
      );
    const at = clock();
    const kept = corrections(state, ref).map((fact) => fact.object);
    const overwrite = overwriting(object, markOf(by, at), kept);
    const withoutIt = (learnings: LearningState) =>
      withoutText(learnings, overwrite, { decidedAt: at, decidedBy: by });
    if (!retracted?.erased) await eraseInLearnings(ports, withoutIt);
    // The statement of a command only counts behind a result.
    const source = note === undefined && given === undefined ? sourceSequence : undefined;
    const [events, dispatches, copies]: [number[], number[], SessionEvent[]] = [[], [], []];
    const read = retracted?.erased
      ? []
      : (await log.read(session, { after: 0, through: state.sequence })).events;
    for (const { event, sequence } of read) {
      // An earlier erasure stays in the log, without the state.
      const copy = overwrite(
        event.type === 'session.checkpoint' ? { ...event, data: { ...event.data, state: '' } } : event,
      );
      const isChanged = JSON.stringify(copy) !== JSON.stringify(event);
      const dispatch = event.type === 'fact.recorded' ? event.data.dispatch.sequence : -1;
      // Earlier checkpoints are packed, and this one replaces them. Quoting may have changed the words of the fact.
      if (!isChanged && dispatch !== source) continue;
      events.push(sequence);
      if (dispatch > 0) dispatches.push(dispatch);
      if (isChanged) copies.push(asHistory(copy, originalOf(event) ?? sequence));
    }
    let isStored = false;
    for (let attempt = 0; !isStored; attempt += 1) {
      if (attempt === CHECKPOINT_ATTEMPTS)
        throw new ThroughlineError('conflict', `results come to session ${session} all the time: try again`);
      await command(session, 'session.checkpoint', (now) => {
        if (now.charter.archived !== undefined) return refuseArchived(now);
        // A result that comes between the state and its checkpoint voids it.
        const reply = ({ checkpoint: newest, lastCommand }: SessionState) => {
          isStored = retracted?.erased === true || newest === lastCommand;
          return {};
        };
        if (retracted?.erased) return answer(reply);
        const erased = { id: ref, by, events, dispatches };
        const overwritten = erasedState(now, theFact(now, ref), overwrite, { by, at });
        const data = checkpoint(overwritten, maxEventBytes(ports.connection), erased);
        return append({ type: 'session.checkpoint', data }, reply);
      });
    }
    const { checkpoint: last } = (await reader.load(session)).folded.state;
    const [stored] = (await log.read(session, { after: last - 1, limit: 1 })).events;
    const erased = stored?.event.type === 'session.checkpoint' ? stored.event.data.erased : undefined;
    for (const copy of copies) await log.append(session, copy);
    if (erased !== undefined) await eraser.eraseSome(session, erased);
    // A proposal that was on its way.
    await eraseInLearnings(ports, withoutIt);
    const { folded } = await reader.load(session);
    await writer.write(folded);
    const { sequence, lastEventAt } = folded.state;
    await index.put({ v: 1, sequence, at: lastEventAt, figures: sessionFigures(folded.state) });
    for (const what of ['prompts', 'buckets'] as const) await eraser.rewrite(what);
    return { fact: foundFact(theFact(folded.state, ref)), events: erased?.events.length ?? 0, sequence };
  };
}

/** Proposals repeat the words of notes. As when a session is forgotten, a checkpoint replaces the log of the project. */
async function eraseInLearnings(
  { learnings, projects, inBackground, eraser }: ErasePorts,
  withoutIt: (state: LearningState) => LearningState,
): Promise<void> {
  for (const project of await learnings.projects()) {
    const { state } = (await projects.load(project)).folded;
    if (learningsCheckpoint(withoutIt(state)).state === learningsCheckpoint(state).state) continue;
    const newest = await checkpointProject(inBackground, project, (now) =>
      learningsCheckpoint(withoutIt(now)),
    );
    await eraser.eraseLearnings(project, newest);
  }
}

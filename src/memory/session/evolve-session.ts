import { assertNever } from '../../contracts/errors.js';
import {
  type EventOf,
  type FactRecorded,
  isCommandEvent,
  type StoredEvent,
} from '../../contracts/session-events.js';
import { leftTasks } from '../../ledger/kept-ids.js';
import { digestOf } from '../../ledger/outcome-digest.js';
import { defined } from '../../shared/collections.js';
import { sessionFact } from '../facts/fact-extractor.js';
import type { RecordedFact } from '../facts/fact-types.js';
import { factsOfEvent } from '../facts/statements.js';
import { addAppended, entryOfDispatch } from '../traces/session-traces.js';
import { evolveCharter, evolveRun, idInPlan } from './charter.js';
import { restoreCheckpoint } from './checkpoint.js';
import { evolveIterations, recordWork } from './iterations.js';
import { evolveNotebook } from './notebook.js';
import type { SessionState } from './session-state.js';
import { rejectedBy } from './session-state.js';
import { evolveTasks, expireClaims, isBoardId } from './task-board.js';

/** Folds an event into the state, in place, and returns it. Otherwise pure: time and ids come with the event. */
export function evolve(state: SessionState, stored: StoredEvent): SessionState {
  const { sequence, event } = stored;
  state.sequence = sequence;
  const doesCount = counts(state, stored);
  if (isCommandEvent(event)) state.lastCommand = sequence;
  if (!doesCount) return state;
  const isFirst = state.lastEvent === 0;
  state.lastEvent = sequence;
  if (state.startedAt === '' || state.startedAt > event.at) state.startedAt = event.at;
  if (event.at > state.lastEventAt) state.lastEventAt = event.at;
  switch (event.type) {
    case 'fact.recorded': {
      const named = addressed(event, idInPlan(state.run, event.data.dispatch.task));
      const { dispatch } = named.data;
      const trace = entryOfDispatch(dispatch);
      state.dispatches.insert({
        kind: 'recorded',
        sequence: dispatch.sequence,
        at: dispatch.at,
        event: sequence,
        role: dispatch.role,
        task: dispatch.task,
        facts: factsOfEvent(named),
        digest: digestOf(dispatch),
        ...defined({ result: dispatch.result_key, trace, ends: event.data.ends }),
      });
      return state;
    }
    case 'dispatch.rejected': {
      const { dispatch } = event.data;
      const rejected = rejectedBy(event, sequence);
      const { task } = rejected;
      state.dispatches.insert({
        kind: 'rejected',
        at: dispatch.at,
        ...rejected,
        ...(task !== undefined && { task: idInPlan(state.run, task) }),
      });
      return state;
    }
    case 'task.added':
    case 'task.status':
    case 'task.priority':
    case 'task.depends':
    case 'task.undepends':
    case 'task.content':
    case 'task.deleted':
    case 'task.claimed':
    case 'task.released': {
      evolveTasks(state.board, event);
      recordWork(state.history, event);
      // Notes are folded for good at once.
      const hasNotes = state.dispatches.settled().facts.statementCount() > 0;
      if (event.type === 'task.status' && event.data.status === 'completed' && hasNotes) {
        const { task } = event.data;
        const counted = { sequence: state.dispatches.newest(), at: event.at };
        state.dispatches.change(({ facts }) => facts.endStuck(task, counted));
      }
      return state;
    }
    case 'note.added':
    case 'note.edited':
    case 'note.deleted':
    case 'inbox.added':
    case 'inbox.read':
    case 'question.answered':
      evolveNotebook(state, event, sequence);
      return state;
    case 'iteration.started':
      expireClaims(state.board, event.data.number - 1, event.at);
      evolveIterations(state.history, event);
      return state;
    case 'iteration.completed':
      expireClaims(state.board, event.data.number, event.at);
      evolveIterations(state.history, event);
      return state;
    case 'iteration.summary':
      evolveIterations(state.history, event);
      return state;
    case 'session.opened':
    case 'session.completed':
    case 'session.restarted':
    case 'session.archived':
    case 'session.reopened':
      evolveCharter(state.charter, event);
      return state;
    case 'session.history':
      return state;
    case 'session.checkpoint':
      restoreCheckpoint(state, event, sequence, isFirst);
      return state;
    case 'run.initialized':
      delete state.charter.unfollowed;
      state.run = evolveRun(state.run, event);
      state.left = [];
      return state;
    case 'run.ended':
      state.left = state.run === undefined ? state.left : leftTasks(state.run.document).slice(-MAX_LEFT);
      state.run = evolveRun(state.run, event);
      state.charter.unfollowed = true;
      for (const id of state.board.claims.keys()) if (!isBoardId(id)) state.board.claims.delete(id);
      return state;
    case 'progress.rebuilt':
      state.run = evolveRun(state.run, event);
      return state;
    case 'fact.retracted': {
      const { at, data } = event;
      const { fact, source } = factIn(data);
      const { by, agent, reason, instead: object, ref } = data;
      const { ref: _, ...statement } = data.fact;
      const origin = agent === undefined ? { origin: 'person' as const, by } : {};
      const corrected = object && { ...statement, object, ...(ref && { ref, ...origin }) };
      const instead = corrected
        ? { ...sessionFact(corrected, source, sequence), corrects: fact.id }
        : undefined;
      const retraction = defined({ by, agent, at, reason });
      state.dispatches.change(({ facts }) => facts.retract(fact, retraction, instead, data.after));
      return state;
    }
    case 'fact.restored': {
      const { at, data } = event;
      const { fact } = factIn(data);
      const { by, after = fact.sourceSequence } = data;
      state.dispatches.change(({ facts }) => facts.restore(fact, { by, at, after }));
      return state;
    }
    case 'trace.appended':
      state.dispatches.change(({ traces }) => addAppended(traces, event));
      return state;
    default:
      return assertNever(event);
  }
}

/** False for a copy of a command, behind a newer one than its append expected, and for a checkpoint that misses events. */
function counts({ lastEvent, lastCommand }: SessionState, { event, after = lastCommand }: StoredEvent) {
  if (event.type === 'session.checkpoint' && event.data.covers < lastEvent) return false;
  return !isCommandEvent(event) || after >= lastCommand;
}

/** More than a plan of common size has, and what it remembers. */
const MAX_LEFT = 1000;

function addressed(event: FactRecorded, task: string): FactRecorded {
  const { dispatch, facts } = event.data;
  if (task === dispatch.task) return event;
  const [before, now] = [`task:${dispatch.task}`, `task:${task}`];
  const moved = (fact: RecordedFact) => (fact.subject === before ? { ...fact, subject: now } : fact);
  return { ...event, data: { ...event.data, dispatch: { ...dispatch, task }, facts: facts.map(moved) } };
}

/** Returns the fact that a person's event is about, with the result that stated it. */
function factIn({ fact, source: stored }: EventOf<'fact.retracted' | 'fact.restored'>['data']) {
  const { sequence, task: taskId, event, at, role, history } = stored;
  const source = { sequence, at, role, taskId, ...(history && { history }) };
  return { fact: sessionFact(fact, source, event), source };
}

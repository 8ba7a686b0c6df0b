import { noSuchSession } from '../../../contracts/errors.js';
import { projectOf, type Token } from '../../../contracts/names.js';
import { RELATIONS } from '../../../contracts/relations.js';
import type { sessionView } from '../../../contracts/replies/session-reply.js';
import type { ToolArguments } from '../../../contracts/requests.js';
import type { Output } from '../../../contracts/schema-fields.js';
import { defined } from '../../../shared/collections.js';
import { clipText, counted, named, oneLine } from '../../../shared/text.js';
import { statusText } from '../../../shared/wire-words.js';
import { ONLY_A_PERSON } from '../../facts/fact-types.js';
import { archivedFault, type Charter } from '../charter.js';
import { currentNumber, type Iteration, newest, openNumber } from '../iterations.js';
import { notesOf, unread } from '../notebook.js';
import { factsOf, outlook, type SessionState } from '../session-state.js';
import { isOpen, taskCounts } from '../task-board.js';
import {
  answer,
  append,
  type Decision,
  type Reply,
  refuse,
  resolveId,
  stillThere,
} from './session-decision.js';

export function openSession(state: SessionState, args: ToolArguments<'session-open'>): Decision {
  const { title, goal, spec, specPath, project, person } = args;
  const bound = boundProject(state.charter);
  if (project !== undefined && bound !== undefined && projectOf(project) !== bound) {
    const message = `project: session ${state.session} already belongs to project ${bound}: leave out the project, or open another session`;
    return refuse('project_bound', message, { field: 'project', project: bound });
  }
  const { goal: before, person: isPersons } = state.charter;
  if (goal !== undefined && goal !== before && isPersons && !person)
    return refuse('conflict', `the goal is what a person set: ${ONLY_A_PERSON}`, { field: 'goal' });
  const data = defined({ title, goal, spec, spec_path: specPath, project, person });
  return append({ type: 'session.opened', data }, overview);
}

/**
 * Returns the project of a session once it was opened, so that no caller can move its learnings to another. Opening
 * without a name binds it to the default project.
 */
function boundProject({ goal, spec, spec_path, project }: Charter): Token | undefined {
  const isOpened = [goal, spec, spec_path, project].some((value) => value !== undefined);
  return isOpened ? projectOf(project) : undefined;
}

/** Characters of a fix in a message. */
const NAMED_FIX = 80;

export function completeSession(state: SessionState, { force, reason }: ToolArguments<'session-complete'>) {
  if (state.sequence === 0) return refuseUnknown(state);
  if (state.charter.status === 'completed') return answer(overview);
  const onBoard = [...state.board.tasks.values()].filter(isOpen);
  const inPlan = outlook(state)
    .planned.filter(({ isWork, isDone, isOptional }) => isWork && !isDone && !isOptional)
    .map(({ task: { text, ...task } }) => ({ ...task, content: text }));
  const open = [...onBoard, ...inPlan].map(({ id, status, content }) => ({ id, status, content }));
  if (open.length > 0 && !force) {
    const tasks = named(open.map((task) => `${task.id} (${statusText(task.status)})`));
    return refuse(
      'open_tasks',
      `${open.length === 1 ? '1 task is' : `${open.length} tasks are`} open: ${tasks}. Finish or cancel them, or complete the session anyway with force and a reason (--force --reason)`,
      { tasks: open },
    );
  }
  const fixes = factsOf(state)
    .getValid()
    .filter(({ relation }) => relation === RELATIONS.requiredFix)
    .filter(({ sourceTaskId }) => !state.board.tasks.has(sourceTaskId))
    .map(({ sourceTaskId, object }) => ({ task: sourceTaskId, fix: object }));
  if (fixes.length > 0 && !force) {
    const fixTexts = fixes.map(({ task, fix }) => `${oneLine(task)}: "${clipText(oneLine(fix), NAMED_FIX)}"`);
    return refuse(
      'open_fixes',
      `reviews still ask for ${counted(fixes.length, 'fix', 'fixes')}: ${named(fixTexts)}. Have their tasks approved, or complete the session anyway with force and a reason (--force --reason)`,
      { fixes },
    );
  }
  if (force && reason === undefined)
    return refuse('schema_invalid', 'reason: say why the session ends with work that is open', {
      fields: ['reason'],
    });
  const data = defined({ forced: open.length + fixes.length > 0, reason });
  return append({ type: 'session.completed', data }, overview);
}

function changed(
  type: 'session.restarted' | 'session.archived' | 'session.reopened',
  isDone: (charter: Charter) => boolean,
) {
  return (state: SessionState, { reason }: { readonly reason?: string | undefined }): Decision => {
    if (state.sequence === 0) return refuseUnknown(state);
    if (isDone(state.charter)) return answer(overview);
    return append({ type, data: defined({ reason }) }, overview);
  };
}

export const restartSession = changed(
  'session.restarted',
  ({ status, archived }) => status === 'open' && archived === undefined,
);
export const archiveSession = changed('session.archived', ({ archived }) => archived !== undefined);
export const reopenSession = changed('session.reopened', ({ archived }) => archived === undefined);

function refuseUnknown({ session }: SessionState): Decision {
  const { code, message, details } = noSuchSession(session);
  return refuse(code, message, details);
}

export function refuseArchived({ session, charter }: SessionState): Decision {
  const { code, message } = archivedFault(session, charter.archived ?? { at: '' });
  return refuse(code, message);
}

/** The figures of a session. */
export type SessionOverview = Output<typeof sessionView>;

/** @param state as shown */
export function overview(state: SessionState): { readonly session: SessionOverview } {
  const { notebook, history, charter, sequence, startedAt, lastEventAt } = state;
  const counted = taskCounts(state);
  const { counts, facts } = state.dispatches.current();
  return {
    session: {
      name: state.session,
      ...charter,
      sequence,
      started_at: startedAt || null,
      last_event_at: lastEventAt || null,
      iteration: currentNumber(history),
      ...counted,
      notes: notesOf(state).size,
      unread: unread(notebook).length,
      facts: facts.count(),
      ...(facts.dropped() > 0 && { dropped: facts.dropped() }),
      dispatches: { ...counts },
    },
  };
}

/** Starts the next iteration, or confirms the one that a first write started implicitly. */
export function startIteration(state: SessionState, { number }: ToolArguments<'iteration-start'>): Decision {
  const newestOne = newest(state.history);
  const last = newestOne?.number ?? 0;
  const isOpened = newestOne?.implied === true && newestOne.ended_at === undefined;
  const isUnused = isOpened && newestOne.summary === undefined && newestOne.tasks_worked.length === 0;
  const wanted = number ?? (isUnused ? last : last + 1);
  if (wanted < last || (wanted === last && !isOpened)) {
    return refuse(
      'conflict',
      `number is ${wanted}, but iteration ${last} has been started: use ${last + 1} or leave it out`,
    );
  }
  return append({ type: 'iteration.started', data: { number: wanted } }, showing(wanted));
}

export function completeIteration(state: SessionState, { number }: ToolArguments<'iteration-complete'>) {
  return onIteration(state, number ?? newest(state.history)?.number, ({ number, complete }) =>
    complete
      ? answer(showing(number))
      : append({ type: 'iteration.completed', data: { number } }, showing(number)),
  );
}

export function summarise(state: SessionState, args: ToolArguments<'iteration-summary'>): Decision {
  return onIteration(state, args.number ?? summarised(state, args), (iteration) => {
    const { summary } = iteration;
    if (summary !== undefined && !args.replace) {
      const message = `iteration ${iteration.number} already has a summary: set replace to replace it`;
      return refuse('summary_exists', message, { summary });
    }
    const worked: string[] = [];
    for (const id of args.tasksWorked ?? []) {
      const resolved = resolveId(state.board.tasks, id, 'task', 'TAS');
      if ('refusal' in resolved) return resolved.refusal;
      worked.push(resolved.found.id);
    }
    const data = { number: iteration.number, summary: args.summary, tasks_worked: worked };
    return append({ type: 'iteration.summary', data }, showing(iteration.number));
  });
}

/** Returns the newest iteration, or the next one if that is over and has another summary. */
function summarised({ history }: SessionState, { summary, replace }: ToolArguments<'iteration-summary'>) {
  const last = newest(history);
  const isOver = last?.ended_at !== undefined && last.summary !== undefined;
  return isOver && !replace && last.summary !== summary ? openNumber(history) : last?.number;
}

/** Decides on an iteration; the next one is started implicitly. */
function onIteration(
  { history }: SessionState,
  number: number | undefined,
  decide: (iteration: Pick<Iteration, 'number' | 'complete' | 'summary'>) => Decision,
): Decision {
  const next = openNumber(history);
  const iteration = history.iterations.find((candidate) => candidate.number === (number ?? next));
  if (iteration !== undefined) return decide(iteration);
  if (number === undefined || number === next) return decide({ number: next, complete: false });
  return refuse('not_found', `no iteration ${number} is known: use ${next} or leave it out`);
}

function showing(number: number): Reply {
  return ({ history }) => {
    const iteration = history.iterations.find((candidate) => candidate.number === number);
    return { iteration: stillThere(iteration, `iteration ${number}`) };
  };
}

import { noSuchSession } from '../../../contracts/errors.js';
import { projectOf, type Token } from '../../../contracts/names.js';
import { RELATIONS } from '../../../contracts/relations.js';
import type { sessionView } from '../../../contracts/replies/session-reply.js';
import type { ToolArguments } from '../../../contracts/requests.js';
import type { Output } from '../../../contracts/schema-fields.js';
import { defined } from '../../../shared/collections.js';
import { clipText, counted, named, oneLine } from '../../../shared/text.js';
import { statusText } from '../../../shared/wire-words.js';
import { archivedFault, type Charter } from '../charter.js';
import { currentNumber } from '../iterations.js';
import { notesOf, unread } from '../notebook.js';
import { factsOf, type SessionState } from '../session-state.js';
import { isOpen, taskCounts } from '../task-board.js';
import { answer, append, type Decision, refuse } from './session-decision.js';

export function openSession(state: SessionState, args: ToolArguments<'session-open'>): Decision {
  const { title, goal, spec, specPath, project, settings } = args;
  const bound = boundProject(state.charter);
  if (project !== undefined && bound !== undefined && projectOf(project) !== bound) {
    const message = `project: session ${state.session} already belongs to project ${bound}: leave out the project, or open another session`;
    return refuse('project_bound', message, { field: 'project', project: bound });
  }
  const data = defined({ title, goal, spec, spec_path: specPath, project, settings });
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

export function completeSession(
  state: SessionState,
  { force, reason }: ToolArguments<'session-complete'>,
): Decision {
  if (state.sequence === 0) return refuseUnknown(state);
  if (state.charter.status === 'completed') return answer(overview);
  const open = [...state.board.tasks.values()].filter(isOpen);
  if (open.length > 0 && !force) {
    const tasks = named(open.map((task) => `${task.id} (${statusText(task.status)})`));
    return refuse(
      'open_tasks',
      `${open.length === 1 ? '1 task is' : `${open.length} tasks are`} open: ${tasks}. Finish or cancel them, or complete the session anyway with force and a reason (--force --reason)`,
      {
        tasks: open.map(({ id, status, content }) => ({ id, status, content })),
      },
    );
  }
  const fixes = openFixes(state);
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

/** Returns unapproved required fixes; for a board task its status decides instead. */
function openFixes(state: SessionState): { readonly task: string; readonly fix: string }[] {
  return factsOf(state)
    .getValid()
    .filter(({ relation, sourceTaskId }) => {
      return relation === RELATIONS.requiredFix && !state.board.tasks.has(sourceTaskId);
    })
    .map(({ sourceTaskId, object }) => ({ task: sourceTaskId, fix: object }));
}

/** Changes what a session is open for, unless it is so already. */
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
  const { counts } = state.dispatches.current();
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
      facts: factsOf(state).count(),
      dispatches: { ...counts },
    },
  };
}

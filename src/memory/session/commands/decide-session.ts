import type { ToolArguments, ToolName, ToolReply } from '../../../contracts/requests.js';
import { notesOf, unread } from '../notebook.js';
import { type SessionState, seenState } from '../session-state.js';
import * as iterations from './lifecycle-commands.js';
import * as lifecycle from './lifecycle-commands.js';
import * as notes from './notebook-commands.js';
import { type Decision, refuse } from './session-decision.js';
import * as tasks from './task-commands.js';

const COMMANDS = {
  'task-add': tasks.addTask,
  'task-status': tasks.setStatus,
  'task-priority': tasks.setPriority,
  'task-depends': tasks.addDependencies,
  'task-undepends': tasks.removeDependencies,
  'task-content': tasks.setContent,
  'task-delete': tasks.deleteTask,
  'task-next': tasks.next,
  'task-release': tasks.release,
  'note-add': notes.addNote,
  'note-edit': notes.editNote,
  'note-delete': notes.deleteNote,
  'inbox-add': notes.addMessage,
  'inbox-mark-read': notes.markRead,
  'blocker-answer': notes.answerBlocker,
  'iteration-start': iterations.startIteration,
  'iteration-complete': iterations.completeIteration,
  'iteration-summary': iterations.summarise,
  'session-open': lifecycle.openSession,
  'session-complete': lifecycle.completeSession,
  'session-restart': lifecycle.restartSession,
  'session-archive': lifecycle.archiveSession,
  'session-reopen': lifecycle.reopenSession,
} satisfies {
  [Name in ToolName]?: (state: SessionState, args: ToolArguments<Name>) => Decision;
};

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

const DECIDE: {
  readonly [Name in CommandName]: (state: SessionState, args: ToolArguments<Name>) => Decision;
} = COMMANDS;

const OF_COMPLETED: ReadonlySet<CommandName> = new Set([
  'session-restart',
  'session-archive',
  'session-reopen',
]);

/** Decides a command on the state as shown; a completed session must be restarted first, an archived one reopened. */
export function decide<Name extends CommandName>(
  name: Name,
  state: SessionState,
  args: ToolArguments<Name>,
): Decision {
  const decision = DECIDE[name](seenState(state), args);
  if (decision.kind === 'append' && state.charter.archived !== undefined && name !== 'session-reopen')
    return lifecycle.refuseArchived(state);
  if (decision.kind === 'append' && state.charter.status === 'completed' && !OF_COMPLETED.has(name)) {
    return refuse('session_completed', `session ${state.session} is completed: use session-restart first`);
  }
  if (decision.kind === 'refuse') return decision;
  const { reply } = decision;
  return { ...decision, reply: (after) => reply(seenState(after)) };
}

type View<Name extends ToolName> = (
  state: SessionState,
  args: ToolArguments<Name>,
) => Omit<ToolReply<Name>, 'sequence'>;

export const SESSION_VIEWS = {
  'task-list': ({ board }, { status }) => ({
    tasks: [...board.tasks.values()]
      .filter((task) => status === undefined || task.status === status)
      .map((task) => tasks.shown(board, task)),
  }),
  'note-list': (state, { type }) => ({
    notes: [...notesOf(state).values()].filter((note) => type === undefined || note.type === type),
  }),
  'inbox-list': ({ notebook }, { all }) => ({
    messages: all ? [...notebook.inbox.values()] : unread(notebook),
  }),
  'iteration-list': ({ history }) => ({ iterations: history.iterations }),
} as const satisfies { [Name in ToolName]?: View<Name> };

export type ViewName = keyof typeof SESSION_VIEWS;

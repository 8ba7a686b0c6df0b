import type { ToolArguments, ToolName } from '../../../contracts/requests.js';
import { type SessionState, seenState } from '../session-state.js';
import { later } from '../task-board.js';
import * as iterations from './iteration-commands.js';
import * as lifecycle from './lifecycle-commands.js';
import * as notebook from './notebook-commands.js';
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
  'note-add': notebook.addNote,
  'note-edit': notebook.editNote,
  'note-delete': notebook.deleteNote,
  'inbox-add': notebook.addMessage,
  'inbox-mark-read': notebook.markRead,
  'blocker-answer': notebook.answerBlocker,
  'iteration-start': iterations.startIteration,
  'iteration-complete': iterations.completeIteration,
  'iteration-summary': iterations.summarise,
  'session-open': lifecycle.openSession,
  'session-complete': lifecycle.completeSession,
  'session-restart': lifecycle.restartSession,
  'session-archive': lifecycle.archiveSession,
  'session-reopen': lifecycle.reopenSession,
} satisfies {
  [Name in ToolName]?: (state: SessionState, args: ToolArguments<Name>, now: string) => Decision;
};

/** A tool that is decided on the state of its session. */
export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

const DECIDE: {
  readonly [Name in CommandName]: (state: SessionState, args: ToolArguments<Name>, now: string) => Decision;
} = COMMANDS;

/** Commands for a completed session. */
const OF_COMPLETED: ReadonlySet<CommandName> = new Set([
  'session-restart',
  'session-archive',
  'session-reopen',
]);

/**
 * Decides a command on the state as shown, and answers from such a state. A completed session rejects events until it
 * is restarted, an archived one until it is reopened.
 *
 * @param now default: the time of the newest event
 */
export function decide<Name extends CommandName>(
  name: Name,
  state: SessionState,
  args: ToolArguments<Name>,
  now = state.lastEventAt,
): Decision {
  const decision = DECIDE[name](seenState(state, now), args, now);
  if (decision.kind === 'append' && state.charter.archived !== undefined && name !== 'session-reopen')
    return lifecycle.refuseArchived(state);
  if (decision.kind === 'append' && state.charter.status === 'completed' && !OF_COMPLETED.has(name)) {
    return refuse('session_completed', `session ${state.session} is completed: use session-restart first`);
  }
  if (decision.kind === 'refuse') return decision;
  const { reply } = decision;
  return {
    ...decision,
    reply: (after) => reply(seenState(after, later(now, after.lastEventAt))),
  };
}

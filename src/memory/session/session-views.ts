import type { ToolArguments, ToolName, ToolReply } from '../../contracts/requests.js';
import { overview } from './commands/lifecycle-commands.js';
import { shown } from './commands/task-commands.js';
import { notesOf, unread } from './notebook.js';
import type { SessionState } from './session-state.js';

type View<Name extends ToolName> = (
  state: SessionState,
  args: ToolArguments<Name>,
) => Omit<ToolReply<Name>, 'sequence'>;

/** Views of a session's state, as shown at the time of the request, by the tools that ask for them. */
export const SESSION_VIEWS = {
  'task-list': ({ board }, { status }) => ({
    tasks: [...board.tasks.values()]
      .filter((task) => status === undefined || task.status === status)
      .map((task) => shown(board, task)),
  }),
  'note-list': (state, { type }) => ({
    notes: [...notesOf(state).values()].filter((note) => type === undefined || note.type === type),
  }),
  'inbox-list': ({ notebook }, { all }) => ({
    messages: all ? [...notebook.inbox.values()] : unread(notebook),
  }),
  'iteration-list': ({ history }) => ({ iterations: history.iterations }),
  'session-show': overview,
} as const satisfies { [Name in ToolName]?: View<Name> };

export type ViewName = keyof typeof SESSION_VIEWS;

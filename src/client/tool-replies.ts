import type { ToolName } from '../contracts/tools.js';
import type { Unresolved } from '../session/dependencies.js';
import type { Iteration } from '../session/iterations.js';
import type { InboxMessage, Note } from '../session/notebook.js';
import type { Task } from '../session/tasks.js';

/** What the tools answer. `sequence` is the session sequence that the answer reflects. */

/** A task with what it still waits for. */
export interface TaskView extends Task {
  readonly unresolved: readonly Unresolved[];
}

interface Replies {
  readonly task: { readonly task: TaskView | null; readonly sequence: number };
  readonly note: { readonly note: Note | null; readonly sequence: number };
  readonly message: { readonly message: InboxMessage | null; readonly sequence: number };
  readonly iteration: { readonly iteration: Iteration; readonly sequence: number };
  readonly session: { readonly session: Readonly<Record<string, unknown>>; readonly sequence: number };
}

/** The reply of each tool. */
export type ToolReply<Name extends ToolName> = Name extends 'task-list'
  ? { readonly tasks: readonly TaskView[]; readonly sequence: number }
  : Name extends 'note-list'
    ? { readonly notes: readonly Note[]; readonly sequence: number }
    : Name extends 'inbox-list'
      ? { readonly messages: readonly InboxMessage[]; readonly sequence: number }
      : Name extends 'iteration-list'
        ? { readonly iterations: readonly Iteration[]; readonly sequence: number }
        : Name extends `task-${string}`
          ? Replies['task']
          : Name extends `note-${string}`
            ? Replies['note']
            : Name extends `inbox-${string}`
              ? Replies['message']
              : Name extends `iteration-${string}`
                ? Replies['iteration']
                : Replies['session'];

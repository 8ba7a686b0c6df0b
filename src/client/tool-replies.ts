import type { DispatchResult } from '../contracts/dispatch-result.js';
import type { ToolName } from '../contracts/request-names.js';
import type { FoundFact } from '../session/commands/fact-commands.js';
import type { SessionOverview } from '../session/commands/lifecycle-commands.js';
import type { TaskView } from '../session/commands/task-commands.js';
import type { Iteration } from '../session/iterations.js';
import type { InboxMessage, Note } from '../session/notebook.js';
import type { PlanView } from '../session/plan-view.js';

/** Replies of the tools. */

interface OneTask {
  readonly task: TaskView;
}
interface OneNote {
  readonly note: Note;
}
interface OneMessage {
  readonly message: InboxMessage;
}
interface OneIteration {
  readonly iteration: Iteration;
}
interface OneSession {
  readonly session: SessionOverview;
}

interface Replies {
  readonly 'dispatch-show': DispatchResult;
  /** `degraded` says why the file cannot be read now: the rest is older then. */
  readonly 'plan-show': PlanView & { readonly degraded?: string };
  /** Null when no task is ready. */
  readonly 'task-next': { readonly task: TaskView | null };
  readonly 'task-delete': { readonly task: null; readonly deleted: string };
  readonly 'task-list': { readonly tasks: readonly TaskView[] };
  readonly 'note-delete': { readonly note: null; readonly deleted: string };
  readonly 'note-list': { readonly notes: readonly Note[] };
  readonly 'inbox-list': { readonly messages: readonly InboxMessage[] };
  readonly 'iteration-list': { readonly iterations: readonly Iteration[] };
  /** The valid ones first, each the newest first; `total` is of all that fit. */
  readonly 'fact-find': { readonly facts: readonly FoundFact[]; readonly total: number };
}

/** The reply of a tool that neither lists nor deletes: the entry that it worked on, as it is afterwards. */
type Shown<Name extends ToolName> = Name extends `task-${string}`
  ? OneTask
  : Name extends `note-${string}`
    ? OneNote
    : Name extends `inbox-${string}`
      ? OneMessage
      : Name extends `iteration-${string}`
        ? OneIteration
        : OneSession;

/** The reply of each tool. */
export type ToolReply<Name extends ToolName> = (Name extends keyof Replies ? Replies[Name] : Shown<Name>) & {
  /** Session sequence that the answer reflects. */
  readonly sequence: number;
};

import type { TaskProblem } from '../ledger/tasks-md/parsed-tasks.js';
import type { RunStatus } from '../session/run-status.js';

/** The reply of `run.status`. */
export interface RunStatusReply extends RunStatus {
  /** Why the tasks.md cannot be read now; the rest of the reply is older then. */
  readonly degraded?: string;
  /** Session sequence that the answer reflects. */
  readonly sequence: number;
}

/** The reply of `run.init`. */
export interface RunInitReply extends RunStatus {
  readonly sequence: number;
  /** Lines that could not be understood. */
  readonly problems: readonly TaskProblem[];
}

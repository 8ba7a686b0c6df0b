import type { TaskProblem } from '../ledger/tasks-md/parsed-tasks.js';
import type { RunStatus } from '../session/run-status.js';

/** What `run.status` answers. */
export interface RunStatusReply extends RunStatus {
  /** Why the tasks.md cannot be read now; what is said of the run is older then. */
  readonly degraded?: string;
  /** Session sequence that the answer reflects. */
  readonly sequence: number;
}

/** What `run.init` answers. */
export interface RunInitReply extends RunStatus {
  readonly sequence: number;
  /** Lines that could not be placed. */
  readonly problems: readonly TaskProblem[];
}

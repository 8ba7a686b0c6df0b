import type { TasksDocument, TasksSource } from '../../contracts/run-request.js';
import type { EventOf } from '../../contracts/session-events.js';

/** The plan that a session follows; absent until `run.init`. */
export interface Run {
  readonly spec: string;
  readonly goal?: string;
  readonly source: TasksSource;
  readonly document: TasksDocument;
}

export type RunEvent = EventOf<'run.initialized' | 'progress.rebuilt'>;

/** A rebuilt document without a run changes nothing. */
export function evolveRun(run: Run | undefined, event: RunEvent): Run | undefined {
  if (event.type === 'run.initialized') {
    const { spec, goal, source, document } = event.data;
    return { spec, source, document, ...(goal !== undefined && { goal }) };
  }
  return run && { ...run, document: event.data.document };
}

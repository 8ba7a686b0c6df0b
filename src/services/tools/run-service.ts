import { checkedRequest } from '../../contracts/checked.js';
import { ThroughlineError } from '../../contracts/errors.js';
import { token } from '../../contracts/names.js';
import { runInitRequest, runStatusRequest, type TasksSource } from '../../contracts/run-request.js';
import type { SessionCommander, SessionReader } from '../../folding/session-folding.js';
import { ledgerEntries } from '../../ledger/ledger-entries.js';
import { append } from '../../session/commands/session-decision.js';
import { unreadableResult, unreadOf } from '../../session/known-rejections.js';
import { resolvedSettings } from '../../session/resolved-settings.js';
import { runStatus } from '../../session/run-status.js';
import type { SessionState } from '../../session/session-state.js';
import { type ProgressTracker, readText } from '../common/progress-tracker.js';

/** Answers `run.init` and `run.status`. */
export interface RunServiceOptions {
  readonly reader: SessionReader;
  readonly command: SessionCommander;
  readonly tracker: ProgressTracker;
}

export interface RunService {
  /** Reads the tasks and records them as the session's progress. Throws a ThroughlineError when they cannot be read. */
  init(request: unknown): Promise<object>;
  status(request: unknown): Promise<object>;
}

export function createRunService({ reader, command, tracker }: RunServiceOptions): RunService {
  return {
    async init(input) {
      const {
        session: name,
        spec,
        goal,
        tasksPath,
        tasksText,
        settings,
      } = checkedRequest(runInitRequest, input);
      const session = token(name, 'session');
      const source: TasksSource =
        tasksPath === undefined ? { kind: 'document' } : { kind: 'file', path: tasksPath };
      const read =
        tasksPath === undefined
          ? readText(tasksText ?? '', 'tasksText', 0)
          : await tracker.readFile(tasksPath);
      if (!read.ok)
        throw new ThroughlineError(read.code, read.message, { details: { path: tasksPath ?? null } });
      const data = {
        spec,
        source,
        document: read.document,
        ...(goal !== undefined && { goal }),
        ...(settings !== undefined && { settings }),
      };
      const { reply } = await command(session, 'run.init', () =>
        append({ type: 'run.initialized', data }, runStatus),
      );
      return { ...reply, problems: read.parsed.problems };
    },
    async status(input) {
      const session = token(checkedRequest(runStatusRequest, input).session, 'session');
      const { folded } = await reader.load(session);
      const refreshed = await tracker.refresh(session, folded.state);
      const { state } = (await reader.load(session)).folded;
      const degraded = refreshed.outcome === 'failed' ? { degraded: refreshed.message } : {};
      return { ...runStatus(state), ...degraded, sequence: state.sequence };
    },
  };
}

/** The known entries of one task's ledger, together with those of the progress. */
export function entriesOf(state: SessionState, task: string): object {
  const { ledgers, rejections } = state.dispatches.current();
  const { stallThresholds } = resolvedSettings(state.charter.settings);
  const unread = unreadOf(rejections, task);
  const unreadable = unread && unreadableResult(unread);
  return ledgerEntries(ledgers.get(task), state.run?.document, stallThresholds, unreadable);
}

import { ThroughlineError } from '../../contracts/errors.js';
import type { ReplyTo } from '../../contracts/requests.js';
import { specNameOf } from '../../ledger/next-task.js';
import { planProblem } from '../../ledger/plan-document.js';
import { readDocument } from '../../ledger/read-plan.js';
import { isAnotherPlan, isOlderPlan, type Run } from '../../memory/session/charter.js';
import { refuseArchived } from '../../memory/session/commands/lifecycle-commands.js';
import { answer, append, refuse } from '../../memory/session/commands/session-decision.js';
import { runStatus } from '../../memory/session/plan-status.js';
import { sessionLists, taskShown } from '../../memory/session/plan-view.js';
import { planVersion } from '../../memory/session/session-state.js';
import { defined } from '../../shared/collections.js';
import { hashOf } from '../../shared/hash.js';
import type { ToolPorts } from '../common/service-context.js';
import type { Handlers, Values } from '../common/service-shell.js';

function planName({ spec, source, version }: Run): string {
  return version?.file ?? (source.kind === 'file' ? source.path : `the plan ${spec}`);
}

/** Problems listed in a reply; the run counts all of them. */
const MAX_PROBLEMS = 1000;

export function createRunService({
  reader,
  command,
  tracker,
}: Pick<ToolPorts, 'reader' | 'command' | 'tracker'>): Handlers<'run.init' | 'run.status'> {
  /** Reads a plan from its path, unless the client sees another text there: its files are on another machine. */
  const readPlan = async ({ tasksPath, tasksText, requirementsText }: Values<'run.init'>) => {
    if (tasksPath !== undefined) {
      const read = await tracker.readFile(tasksPath);
      if (tasksText === undefined || (read.ok && read.document.fingerprint.hash === hashOf(tasksText)))
        return { read, source: { kind: 'file', path: tasksPath } as const };
    }
    const beside = { requirements: requirementsText };
    const read = readDocument(tasksText ?? '', tasksPath ?? 'tasksText', 0, beside);
    return { read, source: { kind: 'document' } as const };
  };
  return {
    /** Records the tasks as the session's plan, or that it follows none. @throws ThroughlineError if they cannot be read */
    async 'run.init'(request) {
      const { session, goal, tasksPath, version } = request;
      const { spec = tasksPath && specNameOf(tasksPath) } = request;
      if (request.unfollow) {
        const { reply } = await command(session, 'run.init', (state) => {
          if (state.charter.archived !== undefined) return refuseArchived(state);
          return state.sequence === 0 || (state.run === undefined && state.charter.unfollowed)
            ? answer(runStatus)
            : append({ type: 'run.ended', data: {} }, runStatus);
        });
        return { ...(reply as ReplyTo<'run.init'>), problems: [] };
      }
      const { read, source } = await readPlan(request);
      if (!read.ok)
        throw new ThroughlineError(
          read.code,
          read.fix === undefined ? read.message : `${read.message}; ${read.fix}`,
          { details: { path: tasksPath ?? null } },
        );
      const { document, unnamed, problems } = read;
      const { reply } = await command(session, 'run.init', (state) => {
        if (state.charter.archived !== undefined) return refuseArchived(state);
        const before = state.run;
        if (before !== undefined && isAnotherPlan(before, { spec, source, version }))
          return refuse(
            'conflict',
            `session ${session} follows ${planName(before)}: "throughline plan unfollow ${session}" first, or follow this plan in another session`,
          );
        if (before !== undefined && isOlderPlan(before, version)) return answer(runStatus);
        const data = {
          spec: request.spec ?? before?.spec ?? spec ?? specNameOf(''),
          source,
          ...(version && { version }),
          document: planVersion(state, document, unnamed),
          ...defined({ goal: goal ?? before?.goal }),
        };
        return append({ type: 'run.initialized', data }, runStatus);
      });
      return {
        ...(reply as ReplyTo<'run.init'>),
        problems: problems.slice(0, MAX_PROBLEMS).map(planProblem),
      };
    },
    async 'run.status'({ session, task, lists, status }) {
      const { state, ...degraded } = await tracker.seen((await reader.load(session)).folded.state);
      return {
        ...runStatus(state),
        ...degraded,
        ...defined({
          task: task === undefined ? undefined : taskShown(state, task),
          lists: lists && sessionLists(state, lists, status),
        }),
        sequence: state.sequence,
      };
    },
  };
}

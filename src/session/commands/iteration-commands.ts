import type { ToolArguments } from '../../contracts/tool-requests.js';
import { type Iteration, newest } from '../iterations.js';
import type { SessionState } from '../session-state.js';
import { resolveId } from './resolve-id.js';
import { answer, append, type Decision, type Reply, refuse, stillThere } from './session-decision.js';

/** The commands on iterations, each decided on a state. */

export function startIteration(state: SessionState, { number }: ToolArguments<'iteration-start'>): Decision {
  const last = newest(state.history)?.number ?? 0;
  const wanted = number ?? last + 1;
  if (wanted <= last) {
    return refuse(
      'conflict',
      `number is ${wanted}, but iteration ${last} has been started: use ${last + 1} or leave it out`,
    );
  }
  return append({ type: 'iteration.started', data: { number: wanted } }, showing(wanted));
}

export function completeIteration(
  state: SessionState,
  { number }: ToolArguments<'iteration-complete'>,
): Decision {
  return onIteration(state, number, (iteration) =>
    iteration.complete
      ? answer(showing(iteration.number))
      : append(
          { type: 'iteration.completed', data: { number: iteration.number } },
          showing(iteration.number),
        ),
  );
}

export function summarise(state: SessionState, args: ToolArguments<'iteration-summary'>): Decision {
  return onIteration(state, args.number, (iteration) => {
    if (iteration.summary !== undefined && !args.replace) {
      return refuse(
        'summary_exists',
        `iteration ${iteration.number} already has a summary: set replace to replace it`,
        {
          summary: iteration.summary,
        },
      );
    }
    const worked: string[] = [];
    for (const id of args.tasksWorked ?? []) {
      const resolved = resolveId(state.board.tasks, id, 'task', 'TAS');
      if ('refusal' in resolved) return resolved.refusal;
      worked.push(resolved.found.id);
    }
    const data = { number: iteration.number, summary: args.summary, tasks_worked: worked };
    return append({ type: 'iteration.summary', data }, showing(iteration.number));
  });
}

export function listIterations(): Decision {
  return answer(({ history }) => ({ iterations: history.iterations }));
}

function onIteration(
  state: SessionState,
  number: number | undefined,
  decide: (iteration: Iteration) => Decision,
): Decision {
  const { iterations } = state.history;
  const iteration =
    number === undefined ? iterations.at(-1) : iterations.find((each) => each.number === number);
  if (iteration !== undefined) return decide(iteration);
  return refuse(
    'not_found',
    number === undefined
      ? 'no iteration has been started: use iteration-start first'
      : `no iteration ${number} is known`,
  );
}

function showing(number: number): Reply {
  return ({ history }) => {
    const iteration = history.iterations.find((each) => each.number === number);
    return { iteration: stillThere(iteration, `iteration ${number}`) };
  };
}

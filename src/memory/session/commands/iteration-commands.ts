import type { ToolArguments } from '../../../contracts/requests.js';
import { type Iteration, newest, openNumber } from '../iterations.js';
import type { SessionState } from '../session-state.js';
import {
  answer,
  append,
  type Decision,
  type Reply,
  refuse,
  resolveId,
  stillThere,
} from './session-decision.js';

/** Starts the next iteration, or confirms the one that a first write started implicitly. */
export function startIteration(state: SessionState, { number }: ToolArguments<'iteration-start'>): Decision {
  const newestOne = newest(state.history);
  const last = newestOne?.number ?? 0;
  const isOpened = newestOne?.implied === true && newestOne.ended_at === undefined;
  const isUnused = isOpened && newestOne.summary === undefined && newestOne.tasks_worked.length === 0;
  const wanted = number ?? (isUnused ? last : last + 1);
  if (wanted < last || (wanted === last && !isOpened)) {
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
  return onIteration(state, number ?? newest(state.history)?.number, (iteration) =>
    iteration.complete
      ? answer(showing(iteration.number))
      : append(
          { type: 'iteration.completed', data: { number: iteration.number } },
          showing(iteration.number),
        ),
  );
}

export function summarise(state: SessionState, args: ToolArguments<'iteration-summary'>): Decision {
  return onIteration(state, args.number ?? summarised(state, args), (iteration) => {
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

/** Returns the newest iteration, or the next one if that is over and has another summary. */
function summarised(
  { history }: SessionState,
  { summary, replace }: ToolArguments<'iteration-summary'>,
): number | undefined {
  const last = newest(history);
  const isOver = last?.ended_at !== undefined && last.summary !== undefined;
  return isOver && !replace && last.summary !== summary ? openNumber(history) : last?.number;
}

/** Decides on an iteration; the next one is started implicitly. */
function onIteration(
  { history }: SessionState,
  number: number | undefined,
  decide: (iteration: Pick<Iteration, 'number' | 'complete' | 'summary'>) => Decision,
): Decision {
  const next = openNumber(history);
  const iteration = history.iterations.find((candidate) => candidate.number === (number ?? next));
  if (iteration !== undefined) return decide(iteration);
  if (number === undefined || number === next) return decide({ number: next, complete: false });
  return refuse('not_found', `no iteration ${number} is known: use ${next} or leave it out`);
}

function showing(number: number): Reply {
  return ({ history }) => {
    const iteration = history.iterations.find((candidate) => candidate.number === number);
    return { iteration: stillThere(iteration, `iteration ${number}`) };
  };
}

import { basename } from 'node:path';
import type { ThroughlineClient } from '../../client/throughline-client.js';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';
import type { RunStatusReply } from '../../contracts/replies/run-reply.js';
import type { TaskView } from '../../session/commands/task-commands.js';
import { oneLine } from '../../shared/text.js';
import type { McpInput, McpOutput } from './mcp-tools.js';
import type { McpAnswer, McpTool, Memory } from './memory.js';
import { needed } from './needed.js';

/** `task`: the board of the session, and the plan that it follows. */
export const taskTool: McpTool<'task'> = async (memory, input) => {
  const { session } = memory;
  const client = await memory.client();
  switch (input.action) {
    case 'next': {
      const [{ task }, plan] = await Promise.all([
        client.tools.taskNext({ session }),
        planOf(memory, client),
      ]);
      return answerOf(task === null ? [] : [task], NONE_READY, plan);
    }
    case 'claim': {
      if (input.id !== undefined) throw new ThroughlineError('schema_invalid', CLAIM_WITH_ID);
      const { task } = await client.tools.taskNext({ session, claim: input.agent ?? 'agent' });
      return task === null ? answerOf([], NONE_READY, await planOf(memory, client)) : answerOf([task]);
    }
    case 'add': {
      const { priority, dependsOn } = input;
      const content = needed(input, 'content', 'what is to be done');
      const { task } = await client.tools.taskAdd({ session, content, priority, dependsOn });
      return answerOf([task]);
    }
    case 'status':
      return answerOf([await changed(client, session, input)]);
    case 'list': {
      const [{ tasks }, plan] = await Promise.all([
        client.tools.taskList({ session }),
        planOf(memory, client),
      ]);
      return answerOf(tasks, 'The board is empty.', plan);
    }
  }
};

const NONE_READY = 'No task of the board is ready.';
const CLAIM_WITH_ID =
  'id is not for claim, which takes the next ready task of the board: leave it out. A task of the plan needs no claim: use context with it';

async function changed(
  client: ThroughlineClient,
  session: string,
  input: McpInput<'task'>,
): Promise<TaskView> {
  const id = needed(input, 'id', 'the task, such as TAS-4');
  const status = needed(input, 'status', 'its new status');
  // A number alone may be meant as an id of the plan.
  if (!/^tas-\d+$/i.test(id)) {
    throw new ThroughlineError(
      'not_found',
      `id ${JSON.stringify(id)} is not a task of the board, such as TAS-4. The status of a task of the plan follows from its results: use report`,
    );
  }
  const { task } = await client.tools.taskStatus({ session, id, status, reason: input.reason });
  return task;
}

interface Plan {
  readonly status: RunStatusReply;
  /** Why the plan of the project is not followed. */
  readonly fault?: string;
}

/** The plan; the one that the project names is followed from the first question on. */
async function planOf({ session, plan }: Memory, client: ThroughlineClient): Promise<Plan> {
  const status = await client.runStatus(session);
  if (status.run !== null || plan === undefined) return { status };
  try {
    return { status: await client.initRun({ session, spec: basename(plan, '.md'), tasksPath: plan }) };
  } catch (error) {
    return { status, fault: `The plan ${plan} is not followed: ${messageOf(error)}.` };
  }
}

/** Text and data of tasks, and of the plan where it was asked for. */
export function answerOf(tasks: readonly TaskView[], none = '', plan?: Plan): McpAnswer<'task'> {
  const lines = tasks.length === 0 && none !== '' ? [none] : tasks.map(lineOf);
  const data = { tasks: tasks.map(dataOf), ...(plan !== undefined && { plan: planData(plan) }) };
  return { text: [...lines, ...(plan === undefined ? [] : planLines(plan))].join('\n'), data };
}

function lineOf({ id, status, priority, content, unresolved, claimed_by, reason }: TaskView): string {
  const more = [
    ...(unresolved.length === 0 ? [] : [`waits for ${unresolved.map((other) => other.id).join(', ')}`]),
    ...(claimed_by === undefined ? [] : [`claimed by ${oneLine(claimed_by)}`]),
    ...(reason === undefined ? [] : [`reason: ${oneLine(reason)}`]),
  ];
  return `${id} [P${priority}] ${status}: ${oneLine(content)}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
}

function dataOf({
  id,
  content,
  status,
  unresolved,
  claimed_by,
}: TaskView): McpOutput<'task'>['tasks'][number] {
  return {
    id,
    content,
    status,
    ...(unresolved.length > 0 && { waits_for: unresolved.map((other) => other.id) }),
    ...(claimed_by !== undefined && { claimed_by }),
  };
}

function planData({ status: { run, tasks } }: Plan): McpOutput<'task'>['plan'] {
  if (run === null) return null;
  const { totals, active_task_id: active, next_task_id: next } = run;
  const needs = tasks.map(({ task, last_outcome, next_action }) => ({ task, last_outcome, next_action }));
  return { completed: totals.completed, total: totals.total, active, next, needs };
}

function planLines({ status: { run, tasks, degraded }, fault }: Plan): string[] {
  const head =
    run === null
      ? ['No plan is followed.']
      : [
          `Plan ${oneLine(run.spec)}: ${run.totals.completed} of ${run.totals.total} completed, active task ${run.active_task_id ?? 'none'}.`,
          ...nextOf(run),
        ];
  const needs = tasks.map((each) => {
    const stalled = each.replan_hint === undefined ? '' : `; stalled: ${oneLine(each.replan_hint)}`;
    return `${oneLine(each.task)}: ${each.last_outcome}, next ${each.next_action}${stalled}`;
  });
  return [
    ...head,
    ...(fault === undefined ? [] : [fault]),
    ...(degraded === undefined ? [] : [`The plan cannot be read now: ${oneLine(degraded)}.`]),
    ...(needs.length === 0 ? [] : ['Results so far:', ...needs]),
  ];
}

/** The tasks of the plan are not claimed: a model that finds none on the board would stop. */
function nextOf({ next_task_id: next, held }: NonNullable<RunStatusReply['run']>): string[] {
  if (next !== null) return [`Next task of the plan: ${oneLine(next)}. Call context with it.`];
  return held === undefined ? [] : [`No task of the plan is ready: ${oneLine(held)}.`];
}

/** Board and plan as text, for the resource. */
export async function boardAndPlan(memory: Memory): Promise<string> {
  return (await taskTool(memory, { action: 'list' })).text;
}

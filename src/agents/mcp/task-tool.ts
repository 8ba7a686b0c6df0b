import { messageOf, ThroughlineError } from '../../contracts/errors.js';
import type { PlanTaskView, RunStatusReply } from '../../contracts/plan-requests.js';
import type { ToolReply } from '../../contracts/requests.js';
import type { TaskView } from '../../memory/session/commands/task-commands.js';
import type { ThroughlineClient } from '../../sdk/throughline-client.js';
import { clipText, quoted } from '../../shared/text.js';
import { claimedBy, claimNote, leftBy } from '../../shared/wire-words.js';
import { followOwnPlan } from '../agent-session.js';
import { type McpInput, type McpTool, type Memory, needed } from './mcp-tools.js';
import { QUOTED } from './recall-tool.js';

export const taskTool: McpTool<'task'> = async (memory, input) => {
  const { session } = memory;
  const client = await memory.client();
  switch (input.action) {
    case 'next': {
      const [{ task }, plan] = await Promise.all([
        client.tools.taskNext({ session }),
        planOf(memory, client),
      ]);
      return nextAnswer(task, plan);
    }
    case 'claim': {
      const { id } = input;
      const claim = claimName(memory.agent, input.agent);
      // A plan that is not followed yet has no tasks.
      const of = await planOf(memory, client);
      const reply = await client.tools.taskNext({ session, claim, id });
      const claimed = reply.task?.id ?? reply.plan?.id;
      if (claimed === undefined) return nextAnswer(null, of);
      memory.claims.set(claimed, claim);
      return claimAnswer(reply);
    }
    case 'release': {
      const id = needed(input, 'id', 'the task, such as TAS-4');
      const { agent, content: note } = input;
      const claim =
        agent === undefined ? (memory.claims.get(id) ?? memory.agent) : claimName(memory.agent, agent);
      const reply = await client.tools.taskRelease({ session, id, claim, note });
      memory.claims.delete(reply.task?.id ?? reply.plan?.id ?? id);
      return claimAnswer(reply);
    }
    case 'add': {
      const { priority, dependsOn } = input;
      const content = needed(input, 'content', 'what is to be done');
      const { task } = await client.tools.taskAdd({
        session,
        content,
        priority,
        dependsOn,
        by: `mcp, ${memory.agent}`,
      });
      return lineOf(task);
    }
    case 'status':
      return lineOf(await changed(client, session, input));
    case 'list': {
      const [{ tasks }, plan] = await Promise.all([
        client.tools.taskList({ session }),
        planOf(memory, client),
      ]);
      return listAnswer(tasks, plan);
    }
  }
};

/** Names a claim: the name that an agent gives stands beside that of its client, so none claims or releases as another. */
function claimName(client: string, agent = client): string {
  return agent === client ? client : `${agent} (${client})`;
}

/** Largest number of board tasks, plan tasks and results in a reply. */
const MOST = 30;
const MAX_LISTED = 200;

async function changed(client: ThroughlineClient, session: string, input: McpInput<'task'>) {
  const id = needed(input, 'id', 'the task, such as TAS-4');
  const status = needed(input, 'status', 'its new status');
  // A number alone may be an id of the plan.
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
  readonly tasks: readonly PlanTaskView[];
  readonly fault?: string;
}

/** Returns the plan. Starts to follow the plan of the project at the first call. */
async function planOf({ session, plan }: Memory, client: ThroughlineClient): Promise<Plan> {
  const shown = async (): Promise<Plan> => {
    const status = await client.runs.status({ session, lists: ['plan'] });
    return { status, tasks: status.lists?.plan.filter(({ group }) => group !== true) ?? [] };
  };
  const known = await shown();
  if (known.status.run !== null || known.status.unfollowed || plan === undefined) return known;
  try {
    await followOwnPlan(client, session, plan);
  } catch (error) {
    return { ...known, fault: `The plan ${plan} is not followed: ${messageOf(error)}.` };
  }
  return shown();
}

function claimAnswer({ task, plan }: ToolReply<'task-release'>): string {
  const { id = '', claimed_by, handover } = task ?? plan ?? {};
  const line =
    task !== null
      ? lineOf(task)
      : `${quoted(id)} of the plan: ${quoted(plan?.text ?? '')}${claimNote(claimed_by)}`;
  return [
    QUOTED,
    line,
    ...(handover === undefined
      ? []
      : [`Handed over by agent ${quoted(handover.by ?? '')}: ${quoted(handover.note)}`]),
    ...(claimed_by === undefined ? [] : [`Call context with task ${quoted(id)} before you begin.`]),
  ].join('\n');
}

function nextAnswer(task: TaskView | null, plan: Plan): string {
  const board = task === null ? 'No task of the board is ready.' : `Next task of the board: ${lineOf(task)}`;
  return [QUOTED, board, ...planLines(plan)].join('\n');
}

function listAnswer(board: readonly TaskView[], plan: Plan): string {
  const tasks = openFirst(board, ({ status }) => status === 'completed' || status === 'cancelled').map(
    (task) => ({ ...task, content: clipText(quoted(task.content), MAX_LISTED) }),
  );
  const planned = openFirst(plan.tasks, isDone);
  const [head = '', ...rest] = planLines(plan);
  return [
    QUOTED,
    ...(board.length === 0
      ? ['The board is empty.']
      : [`${shownOf('Tasks of the board', tasks, board)}:`, ...tasks.map(lineOf)]),
    head,
    ...(plan.tasks.length === 0
      ? []
      : [`${shownOf('Tasks of the plan', planned, plan.tasks)}:`, ...planned.map(planLine)]),
    ...rest,
  ].join('\n');
}

function openFirst<Task>(all: readonly Task[], isClosed: (task: Task) => boolean): Task[] {
  return [...all.filter((task) => !isClosed(task)), ...all.filter(isClosed)].slice(0, MOST);
}

function isDone({ status, cancelled, last_outcome }: PlanTaskView): boolean {
  return status === 'completed' || cancelled === true || last_outcome === 'reviewer_approved';
}

function shownOf(title: string, shown: readonly unknown[], all: readonly unknown[]): string {
  return shown.length === all.length ? title : `${title}, ${shown.length} of ${all.length}, open ones first`;
}

function planLine(task: PlanTaskView): string {
  const { id, text, waits_for: waits = [], optional, claimed_by, last_outcome: last } = task;
  const more = [
    ...(optional ? ['optional'] : []),
    ...(waits.length === 0 ? [] : [`waits for ${waits.map(quoted).join(', ')}`]),
    ...(claimed_by === undefined ? [] : [claimedBy(claimed_by)]),
    ...(last === undefined ? [] : [`last result ${last}`]),
  ];
  return `${quoted(id)} ${statusOf(task)}: ${clipText(quoted(text), MAX_LISTED)}${inBrackets(more)}`;
}

function inBrackets(more: readonly string[]): string {
  return more.length === 0 ? '' : ` (${more.join('; ')})`;
}

function statusOf({ status, blocked, cancelled }: PlanTaskView): string {
  return cancelled ? 'cancelled' : blocked ? 'blocked' : status;
}

function lineOf({ id, status, priority, by, content, unresolved, claimed_by, reason }: TaskView): string {
  const more = [
    ...(unresolved.length === 0 ? [] : [`waits for ${unresolved.map((other) => other.id).join(', ')}`]),
    ...(claimed_by === undefined ? [] : [claimedBy(claimed_by)]),
    ...(reason === undefined ? [] : [`reason: ${quoted(reason)}`]),
  ];
  return `${id} [P${priority}] ${status}${leftBy(by)}: ${quoted(content)}${inBrackets(more)}`;
}

function planLines({ status: { run, tasks: results, degraded }, tasks, fault }: Plan): string[] {
  const needs = results.slice(-MOST).map((result) => {
    const stalled = result.replan_hint === undefined ? '' : `; stalled: ${quoted(result.replan_hint)}`;
    return `${quoted(result.task)}: ${result.last_outcome}, next ${result.next_action}${stalled}`;
  });
  return [
    ...(run === null
      ? ['No plan is followed.']
      : [
          `Plan ${quoted(run.spec)}: ${run.totals.completed} of ${run.totals.total} completed.`,
          ...nextOf(run, tasks),
        ]),
    ...(fault === undefined ? [] : [fault]),
    ...(degraded === undefined ? [] : [`The plan cannot be read now: ${quoted(degraded)}.`]),
    ...(needs.length === 0
      ? []
      : [
          needs.length === results.length
            ? 'Results so far:'
            : `Results so far, the last ${needs.length} of ${results.length}:`,
          ...needs,
        ]),
  ];
}

/** Names the next plan task: a model with an empty board would stop. */
function nextOf(
  { active_task_id: active, next_task_id: next, why_none: whyNone }: NonNullable<RunStatusReply['run']>,
  tasks: readonly PlanTaskView[],
): string[] {
  const named = (id: string) => {
    const text = tasks.find((task) => task.id === id)?.text;
    return text === undefined ? quoted(id) : `${quoted(id)}: ${quoted(text)}`;
  };
  return [
    ...(active === null || active === next ? [] : [`In progress in the plan: ${named(active)}`]),
    ...(next !== null
      ? [`Next task of the plan: ${named(next)}`, `Call context with task ${quoted(next)} before you begin.`]
      : whyNone !== undefined
        ? [`No task of the plan is ready: ${quoted(whyNone)}.`]
        : tasks.some(({ claimed_by }) => claimed_by !== undefined)
          ? ['Other agents work on all tasks of the plan that are ready.']
          : []),
  ];
}

import { z } from 'zod';
import { clipText, counted, oneLine } from '../shared/text.js';

/** A plan, and how far it is, as lines of text for people. */

// What agents wrote may hold escape sequences: a terminal gets one line of visible text.
const text = z.string().transform(oneLine);
export const problem = z.object({
  code: z.string(),
  line: z.number(),
  message: text,
  placed: z.boolean().optional(),
});

/** A plan in numbers, as `run.status` and `plan-show` give it. */
export const planNumbers = z.object({
  spec: text,
  goal: text.optional(),
  source: z.object({ kind: z.string(), path: text.optional() }),
  totals: z.object({
    total: z.number(),
    completed: z.number(),
    inProgress: z.number(),
    pending: z.number(),
  }),
  active_task_id: text.nullable(),
  next_task_id: text.nullable().optional(),
  held: text.optional(),
  problems: z.number(),
  guesses: z.number().default(0),
  unnamed: z.number().default(0),
  drift: z.array(z.object({ task: text, kind: z.string(), message: text })).optional(),
});

const planTask = z.object({
  id: text,
  text,
  depth: z.number(),
  status: z.string(),
  blocked: z.boolean().optional(),
  optional: z.boolean().optional(),
  cancelled: z.boolean().optional(),
  waits_for: z.array(text).optional(),
  unknown_dependencies: z.array(text).optional(),
  requirements: z.array(text).optional(),
  prompt: text.optional(),
  last_outcome: z.string().optional(),
  next_action: z.string().optional(),
});

export const planReply = z.object({
  plan: planNumbers.nullable(),
  tasks: z.array(planTask),
  problems: z.array(problem),
  more_problems: z.number().default(0),
  shortened: z
    .object({
      texts: z.number().optional(),
      prompts: z.number().optional(),
      requirements: z.number().optional(),
    })
    .optional(),
  degraded: text.optional(),
  sequence: z.number(),
});

/** What stands where no plan is followed. */
export const NO_PLAN = 'no tasks.md: see `throughline init`';

/** A line of a plan that was not placed, or by a guess. */
export function problemLine({ line, message, code, placed }: z.output<typeof problem>): string {
  return `line ${line}${placed ? '' : ', not placed'}: ${message} (${code})`;
}

/** How many lines of a plan were not placed, or by a guess, and how many tasks have no id; empty without any. */
export function problemsCounted({
  problems,
  guesses,
  unnamed,
}: Pick<z.output<typeof planNumbers>, 'problems' | 'guesses' | 'unnamed'>): string {
  const said = [
    ...(problems > 0 ? [`${counted(problems, 'line')} not placed`] : []),
    ...(guesses > 0 ? [`${counted(guesses, 'line')} placed by a guess`] : []),
    ...(unnamed > 0 ? [`${counted(unnamed, 'task')} without an id`] : []),
  ];
  return said.join(', ');
}

/** How far a plan is, what is next, and what contradicts it. */
export function planNumberLines(plan: z.output<typeof planNumbers>): string[] {
  const { spec, goal, totals, active_task_id: active, next_task_id: next = active, held, drift = [] } = plan;
  const { total, completed, inProgress, pending } = totals;
  const why = held === undefined ? '' : ` (${held})`;
  return [
    `${spec}${goal === undefined ? '' : `: ${clipText(goal, 200)}`}`,
    `plan: ${completed} of ${counted(total, 'task')} completed, ${inProgress} in progress, ${pending} pending`,
    `active task: ${active ?? `none${why}`}`,
    ...(next === active ? [] : [`next task: ${next ?? `none${why}`}`]),
    ...drift.map(({ message }) => `drift: ${message}`),
  ];
}

/** The line that says why a plan cannot be read now. */
export function degradedLine(why: string): string {
  return `the tasks.md cannot be read now: ${oneLine(why)}`;
}

/** A plan as a tree of its tasks, with the problems of reading it at the end. */
export function planLines({
  plan,
  tasks,
  problems,
  more_problems: more,
  shortened,
  degraded,
}: z.output<typeof planReply>): string[] {
  if (plan === null) return [NO_PLAN];
  const width = Math.max(0, ...tasks.map(({ id, depth }) => id.length + 2 * depth));
  const said = problemsCounted(plan);
  return [
    ...planNumberLines(plan),
    ...(degraded === undefined ? [] : [degradedLine(degraded)]),
    ...tasks.flatMap((task) => taskTreeLines(task, plan.next_task_id ?? null, width)),
    ...(said === '' ? [] : [`tasks.md: ${said}`]),
    ...problems.map(problemLine),
    ...(more > 0 ? [`and ${counted(more, 'more such report')}`] : []),
    ...shortenedLines(shortened),
  ];
}

function taskTreeLines(task: z.output<typeof planTask>, next: string | null, width: number): string[] {
  const { id, depth, waits_for = [], unknown_dependencies = [], requirements = [], prompt } = task;
  const said = [
    ...(id === next ? ['next'] : []),
    ...(task.blocked ? ['blocked'] : []),
    ...(task.optional ? ['optional'] : []),
    ...(task.cancelled ? ['given up'] : []),
    ...(waits_for.length > 0 ? [`waits for ${waits_for.join(', ')}`] : []),
    ...(unknown_dependencies.length > 0
      ? [`depends on ${unknown_dependencies.join(', ')}, which the plan does not have`]
      : []),
  ];
  const name = `${'  '.repeat(depth)}${id}`.padEnd(width);
  const why = said.length === 0 ? '' : ` (${said.join('; ')})`;
  const came = task.last_outcome === undefined ? '' : `  ${task.last_outcome} → ${task.next_action}`;
  return [
    `${markOf(task)} ${name}  ${task.text}${why}${came}`,
    ...(requirements.length > 0 ? [`    requirements: ${requirements.join(', ')}`] : []),
    ...(prompt === undefined ? [] : [`    prompt: ${prompt}`]),
  ];
}

function markOf({ status, blocked, cancelled }: z.output<typeof planTask>): string {
  if (cancelled) return '[~]';
  if (blocked) return '[!]';
  if (status === 'completed') return '[x]';
  return status === 'in-progress' ? '[-]' : '[ ]';
}

function shortenedLines({
  texts = 0,
  prompts = 0,
  requirements = 0,
}: z.output<typeof planReply>['shortened'] & object = {}): string[] {
  const cut = [
    ...(texts > 0 ? [counted(texts, 'text')] : []),
    ...(prompts > 0 ? [counted(prompts, 'prompt')] : []),
    ...(requirements > 0 ? [`the requirements of ${counted(requirements, 'task')}`] : []),
  ];
  return cut.length === 0 ? [] : [`shortened for size: ${cut.join(', ')}`];
}

import { z } from 'zod';
import { eventOf } from './event.js';
import { list, oneOf, string } from './schema-fields.js';

export const TASK_STATUSES = ['remaining', 'in_progress', 'completed', 'blocked', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** 0 is critical, 4 is backlog. */
export const DEFAULT_PRIORITY = 2;
export const priority = z
  .int('must be a whole number from 0 (critical) to 4 (backlog)')
  .min(0, 'must be a whole number from 0 (critical) to 4 (backlog)')
  .max(4, 'must be a whole number from 0 (critical) to 4 (backlog)')
  .describe('0 critical, 1 high, 2 medium, 3 low, 4 backlog.');

export const taskKey = z
  .string()
  .regex(/^TAS-[1-9]\d*$/)
  .describe('Id of the task, such as TAS-1.');

const anyTask = string('Id of the task, of the board (TAS-1) or the plan.');

export const iteration = z
  .int()
  .nonnegative()
  .describe('Number of the iteration that was running; 0 before the first.');
const by = string('Who wrote its text.').exactOptional();
const depends_on = list('The tasks that it waits for.', taskKey);

export const taskEvents = [
  eventOf('task.added', {
    task: taskKey,
    content: string('The work to do.'),
    status: oneOf('Its status.', TASK_STATUSES),
    priority,
    depends_on,
    by,
    iteration,
  }),
  eventOf('task.status', {
    task: taskKey,
    status: oneOf('Its status.', TASK_STATUSES),
    reason: string('The reason given.').optional(),
    iteration,
  }),
  eventOf('task.priority', { task: taskKey, priority, iteration }),
  eventOf('task.depends', { task: taskKey, depends_on, iteration }),
  eventOf('task.undepends', { task: taskKey, depends_on, iteration }),
  eventOf('task.content', { task: taskKey, content: string('The work to do.'), by, iteration }),
  eventOf('task.deleted', {
    task: taskKey,
    undo: z.literal(true).exactOptional().describe('It is restored.'),
    iteration,
  }),
  eventOf('task.claimed', {
    task: anyTask,
    agent: string('Agent that claimed it, in place of any other.'),
    iteration,
  }),
  eventOf('task.released', {
    task: anyTask,
    agent: string('Agent that held it.').exactOptional(),
    note: string('A note for the next agent.').exactOptional(),
    iteration,
  }),
] as const;

import { z } from 'zod';
import { eventOf } from './event.js';

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

const anyTask = z.string().describe('Id of the task: of the board, such as TAS-1, or of the plan.');

const iteration = z
  .int()
  .nonnegative()
  .describe('Number of the iteration that was running; 0 before the first.');

export const opens = z
  .literal(true)
  .exactOptional()
  .describe('The event starts the iteration that it names.');

export const taskEvents = [
  eventOf('task.added', {
    task: taskKey,
    content: z.string().describe('The work to do.'),
    status: z.enum(TASK_STATUSES).describe('Its status.'),
    priority,
    depends_on: z.array(taskKey).describe('The tasks that it waits for.'),
    iteration,
  }),
  eventOf('task.status', {
    task: taskKey,
    status: z.enum(TASK_STATUSES).describe('Its status.'),
    reason: z.string().optional().describe('The reason given.'),
    iteration,
    opens,
  }),
  eventOf('task.priority', { task: taskKey, priority, iteration }),
  eventOf('task.depends', {
    task: taskKey,
    depends_on: z.array(taskKey).describe('The tasks that it waits for.'),
    iteration,
  }),
  eventOf('task.undepends', {
    task: taskKey,
    depends_on: z.array(taskKey).describe('The tasks that it waits for.'),
    iteration,
  }),
  eventOf('task.content', { task: taskKey, content: z.string().describe('The work to do.'), iteration }),
  eventOf('task.deleted', { task: taskKey, iteration }),
  eventOf('task.claimed', {
    task: anyTask,
    agent: z.string().describe('Agent that claimed it, or renews its claims by it.'),
    iteration,
    opens,
  }),
  eventOf('task.released', {
    task: anyTask,
    agent: z.string().exactOptional().describe('Agent that held it.'),
    note: z.string().exactOptional().describe('A note for the next agent.'),
    iteration,
  }),
] as const;

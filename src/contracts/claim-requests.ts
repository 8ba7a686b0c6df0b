import { z } from 'zod';
import { taskId } from './results.js';
import { text, tool } from './tool-shape.js';

const holder = text(200);
const ttlMs = z
  .int()
  .min(1000, 'must be 1000 to 600000')
  .max(600_000, 'must be 1000 to 600000')
  .default(30_000)
  .describe('How long the lease stays without being renewed, in milliseconds.');

/** How runs of a plan agree on who works on a task. */
export const CLAIM_TOOLS = {
  'run-claim': tool('claim the lease of a task for a run, renew it or release it', '--task 2.1 --holder me', {
    task: taskId.describe('The task that the run works on.'),
    holder: holder.describe('Names the run, unlike any other.'),
    ttlMs,
    ended: z
      .array(holder)
      .max(20, 'must name at most 20')
      .optional()
      .describe('Runs that are known to have ended: their lease is taken over at once.'),
    release: z.boolean().default(false).describe('Gives the lease back.'),
  }),
} as const;

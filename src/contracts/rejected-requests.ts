import { z } from 'zod';
import { ROLES } from './kinds.js';
import { sessionName } from './session-name.js';
import { cursor, limit, toolOfAny, toolOfNone } from './tool-shape.js';

/** What is asked of rejected results. */

/** Largest corrected text that one request carries. */
const MAX_CORRECTED = 1_000_000;

const rejectedId = z
  .int()
  .positive('must be a number of a rejected result, 1 or more')
  .describe('Number of the rejected result, from rejected-list.');

export const REJECTED_TOOLS = {
  'rejected-list': toolOfAny('results that could not be used, the newest first', '', {
    role: z.enum(ROLES).optional().describe('Only those that were published as results of this role.'),
    limit: limit(200, 50),
    cursor,
  }),
  'rejected-show': toolOfNone('show a rejected result, its reason and what would fix it', '--id 3', {
    id: rejectedId,
    offset: z
      .int()
      .min(0, 'must be 0 or more')
      .default(0)
      .describe('The byte of the body from which on it is shown: `next` of the reply before.'),
  }),
  'rejected-retry': toolOfNone('publish a rejected result again, corrected or as it came', '--id 3', {
    id: rejectedId,
    role: z.enum(ROLES).optional().describe('Publish it as the result of this role.'),
    toSession: sessionName.optional().describe('Publish it to this session instead of its own.'),
    body: z
      .string()
      .min(1, 'must not be empty')
      .max(MAX_CORRECTED, `must be at most ${MAX_CORRECTED} characters`)
      .optional()
      .describe('The corrected result. It is checked first: what still cannot be read stays where it is.'),
  }),
  'rejected-remove': toolOfNone('remove a rejected result for good', '--id 3', { id: rejectedId }),
} as const;

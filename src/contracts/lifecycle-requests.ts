import { z } from 'zod';
import { DAYS_PATTERN } from '../shared/text.js';
import { ROLES } from './kinds.js';
import { RETENTION_ACTIONS } from './lifecycle-record.js';
import { taskId } from './results.js';
import { oneOf } from './schema-fields.js';
import { sessionFileEvent } from './session-file.js';
import { checkpointEvent } from './session-meta-events.js';
import {
  between,
  cursor,
  limit,
  sessionName,
  text,
  tool,
  toolOfNone,
  view,
  viewOfAny,
  viewOfNone,
} from './tool-shape.js';

const MOST_EVENTS = 1000;

export const EXPORT_TOOLS = {
  'session-export': view('list the events of the session whole, the oldest first', '', { cursor }),
  'session-import': tool('make a session from a state, or add the history of an imported one', '--id 4f1c', {
    id: text(64).describe('Unique to this import: a repeated request is stored once.'),
    checkpoint: checkpointEvent.optional().describe('The state that the new session begins with.'),
    history: z
      .array(sessionFileEvent.shape.event)
      .max(MOST_EVENTS, `must be at most ${MOST_EVENTS}`)
      .default([])
      .describe('Next events of the file: they are listed, and change nothing.'),
    from: z.int().nonnegative().default(0).describe('Number of events of the history before these.'),
  }),
} as const;

export const FORGET_TOOLS = {
  'session-forget': tool(
    'erase a session for good: events, results, snapshots, prompts, evidence in learnings',
    '--confirm demo',
    {
      confirm: text(64).optional().describe('The name of the session once more, except for a dry run.'),
      dryRun: z.boolean().default(false).describe('Only count what would be erased.'),
      withLearnings: z
        .boolean()
        .default(false)
        .describe('Also remove accepted learnings that only this session supports.'),
    },
  ),
} as const;

const holder = text(200);
const ttlMs = between(1000, 600_000)
  .default(30_000)
  .describe('Time to live of the lease without a renewal, in milliseconds.');

/** Runs of a plan agree by these leases on who works on a task. */
export const CLAIM_TOOLS = {
  'run-claim': tool('claim the lease of a task for a run, renew it or release it', '--task 2.1 --holder me', {
    task: taskId.describe('The task that the run works on.'),
    holder: holder.describe('A unique id of the run.'),
    ttlMs,
    ended: z
      .array(holder)
      .max(20, 'must name at most 20')
      .optional()
      .describe('Runs that have ended: their leases can be claimed at once.'),
    release: z.boolean().default(false).describe('Release the lease.'),
  }),
} as const;

export const RETENTION_TOOLS = {
  'retention-show': viewOfNone('show the rules of retention, and what they would do now', '', {}),
  'retention-set': toolOfNone(
    'set what happens to sessions without activity, for the installation or a project; the keeper applies it from then on',
    '--action archive --after 90d',
    {
      project: sessionName.optional().describe('Only for sessions of this project.'),
      action: oneOf('archive, forget or keep; remove deletes the rule.', [...RETENTION_ACTIONS, 'remove']),
      after: z
        .string()
        .regex(DAYS_PATTERN, 'must be a number of days, such as 90d')
        .optional()
        .describe('Age since the last event, such as 90d, to archive or forget.'),
      dryRun: z.boolean().default(false).describe('Only show what the rules would do.'),
    },
  ),
} as const;

const MAX_CORRECTED = 1_000_000;

const rejectedId = z
  .int()
  .positive('must be a number of a rejected result, 1 or more')
  .describe('Number of the rejected result, from rejected-list.');

export const REJECTED_TOOLS = {
  'rejected-list': viewOfAny('results that could not be used, the newest first', '', {
    role: oneOf('Only results that were published with this role.', ROLES).optional(),
    limit: limit(200, 50),
    cursor,
  }),
  'rejected-show': viewOfNone('show a rejected result, its reason and what would fix it', '--id 3', {
    id: rejectedId,
    offset: z
      .int()
      .min(0, 'must be 0 or more')
      .default(0)
      .describe('Byte offset in the body: `next` of the previous reply.'),
  }),
  'rejected-retry': toolOfNone('publish a rejected result again, corrected or as it came', '--id 3', {
    id: rejectedId,
    role: oneOf('Publish it with this role.', ROLES).optional(),
    body: z
      .string()
      .min(1, 'must not be empty')
      .max(MAX_CORRECTED, `must be at most ${MAX_CORRECTED} characters`)
      .optional()
      .describe('The corrected result. If it still cannot be read, nothing is published.'),
  }),
  'rejected-remove': toolOfNone('remove a rejected result for good', '--id 3', { id: rejectedId }),
} as const;

export const PROMPT_TOOLS = {
  'prompt-list': view('the prompts that were compiled last, the newest first', '--task 2.1', {
    task: text(128).optional().describe('Only prompts of this task.'),
    limit: limit(200, 50),
    cursor,
  }),
  'prompt-show': view(
    'show what a compiled prompt held, and the request that compiles it again',
    '--id 4f1c',
    {
      id: text(64).describe('Id of the prompt, from prompt-list.'),
    },
  ),
} as const;

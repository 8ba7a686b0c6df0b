import { z } from 'zod';
import { ROLES, VERDICTS } from './kinds.js';
import { promptTraceBrief } from './prompt-requests.js';
import { recordedFact, recordedRepair } from './recorded-fact.js';
import {
  between,
  cursor,
  flag,
  limit,
  moment,
  query,
  queryOfAny,
  text,
  wideCommand,
  wideQuery,
} from './request-row.js';
import * as f from './schema-fields.js';

/** Requests about results: what became of them, what happened in a session, and those that could not be used. */

const common = { dispatch: f.place('Its DISPATCH sequence.'), sequence: f.sequence };
const role = f.oneOf('The role that it was published with.', ROLES);
const task = f.string('Its task.');

const dispatchResult = z.discriminatedUnion('status', [
  f.named('DispatchRecorded', 'It was read, and counts.', {
    ...common,
    status: z.literal('recorded').describe('It was read and recorded.'),
    role,
    task,
    facts: f.list('Its facts, as its event stores them.', recordedFact),
    factsOmitted: f.count('Facts beyond the limit.').exactOptional(),
    repairs: f.list('Repairs that reading made, if any.', recordedRepair).exactOptional(),
    repairsOmitted: f.count('Repairs beyond the limit.').exactOptional(),
  }),
  f.named('DispatchRefused', 'It could not be used, and is kept unchanged in DISPATCH_REJECTED.', {
    ...common,
    status: z.literal('rejected').describe('It could not be used.'),
    role: role.exactOptional(),
    task: f.string('Its task, if that could be read.').exactOptional(),
    ...f.faultFields,
  }),
  f.named('DispatchRepeated', 'A duplicate: the same result_id or message id was counted before.', {
    ...common,
    status: z.literal('repeated').describe('It had been counted before.'),
    role,
    task,
  }),
  f.named('DispatchCounted', 'Counted, but nothing of it is kept: a repetition, or since replaced.', {
    ...common,
    status: z.literal('counted').describe('It was counted.'),
  }),
]);

/** The reply of `dispatch-show`, which a publisher that waits gets as well. It says what became of a result. */
export type DispatchResult = f.Output<typeof dispatchResult>;

export const TIMELINE_KINDS = ['result', 'rejected', 'command', 'trace', 'prompt'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

const { id, kind, tokens, hash } = promptTraceBrief.shape;

const timelineEntry = f.named('TimelineEntry', 'One thing that happened in a session.', {
  key: f.string('Unique within the session.'),
  kind: f.oneOf('Result, rejected result, command, trace entries or compiled prompt.', TIMELINE_KINDS),
  at: f.time('When it happened'),
  sequence: f.place('Sequence of its event; of a prompt the sequence that it reflects.'),
  type: f.string('Type of its event; prompt.compiled for a prompt.'),
  task: f.string('Its task.').exactOptional(),
  role: f.oneOf('Of a result or a prompt: its role.', ROLES).exactOptional(),
  verdict: f.oneOf('Of a result: its verdict.', VERDICTS).exactOptional(),
  failed: f.mark('A failure: a bad verdict, a rejected result, a failed action.'),
  summary: f.string('What happened, one line of at most 300 characters.'),
  dispatch: f.place('Of a result: its sequence in the DISPATCH stream.').exactOptional(),
  facts: f.count('Of a result: number of its facts.').exactOptional(),
  repairs: f.count('Of a result: number of repairs.').exactOptional(),
  asks: f.strings('What a result asks a person, without questions that have defaults.').exactOptional(),
  prompt: f
    .object('Of a prompt: its figures.', {
      id,
      kind,
      tokens,
      durationMs: z.number().describe('Milliseconds that it took.'),
      dropped: f.count('Items left out to fit the budget.'),
      hash,
    })
    .exactOptional(),
});

export type TimelineEntry = f.Output<typeof timelineEntry>;

const rejectedShown = f.named('RejectedShown', 'A result that could not be used, without its body.', {
  id: z.int().describe('Its number, for rejected-show, rejected-retry and rejected-remove.'),
  at: f.time('When it arrived'),
  session: f.string('The session it was published to; left out for invalid names.').exactOptional(),
  role: f.oneOf('The role it was published with; left out if unknown.', ROLES).exactOptional(),
  subject: f.string('The subject that it was published to.'),
  sequence: f.place('Its sequence in the DISPATCH stream; 0 if never stored there.'),
  ...f.faultFields,
  bytes: f.count('Bytes of its body.'),
});

export type RejectedShown = f.Output<typeof rejectedShown>;

const MAX_CORRECTED = 1_000_000;

const rejectedId = z
  .int()
  .positive('must be a number of a rejected result, 1 or more')
  .describe('Number of the rejected result, from rejected-list.');

export const RESULT_REQUESTS = {
  'tool.dispatch-show': query(
    'show what became of a result, once the session has it',
    { example: { dispatch: 7 } },
    {
      dispatch: z
        .int()
        .positive('must be a DISPATCH sequence, 1 or more')
        .describe("A DISPATCH sequence, from a publisher's PubAck."),
      timeoutMs: between(0, 600_000)
        .optional()
        .describe('Longest wait in milliseconds, as afterTimeoutMs of a prompt.'),
    },
    dispatchResult,
  ),
  'tool.timeline-list': query(
    'list what happened, the newest first',
    { cli: 'log', example: { kinds: ['result', 'rejected'], limit: 20 } },
    {
      kinds: z
        .array(z.enum(TIMELINE_KINDS))
        .min(1, 'must name at least one')
        .max(TIMELINE_KINDS.length, `must name at most ${TIMELINE_KINDS.length}`)
        .optional()
        .describe('Only entries of these kinds.'),
      task: text(128).optional().describe('Only entries of this task, of the board or the plan.'),
      failed: flag.describe('Only what failed: bad verdicts, rejected results, failed actions.'),
      since: moment('Only entries of this time or later.'),
      until: moment('Only entries of this time or earlier.'),
      limit: limit(500, 100),
      cursor,
      after: z
        .int()
        .nonnegative('must be a session sequence, 0 or more')
        .optional()
        .describe('Only entries after this session sequence.'),
      upTo: z
        .int()
        .positive('must be a session sequence, 1 or more')
        .optional()
        .describe('Only entries up to this session sequence.'),
    },
    z.object({
      entries: f.list('Newest first. A page may be short or empty: continue while `next`.', timelineEntry),
      next: f.next,
      sequence: f.sequence,
    }),
  ),
  'tool.rejected-list': queryOfAny(
    'results that could not be used, the newest first',
    { cli: 'result ls' },
    {
      role: f.oneOf('Only results that were published with this role.', ROLES).optional(),
      limit: limit(200, 50),
      cursor,
    },
    z.object({
      rejected: f.list('The newest first.', rejectedShown),
      total: f.count('Number of rejected results.'),
      next: f.next,
    }),
  ),
  'tool.rejected-show': wideQuery(
    'show a rejected result, its reason and what would fix it',
    { cli: 'result show', example: { id: 3 }, agents: false },
    { id: rejectedId },
    z.object({
      rejected: rejectedShown.describe('The rejected result.'),
      body: f.string('Its body, or the beginning if it does not fit a reply.'),
      encoding: f.oneOf('Encoding of the body: text for UTF-8 that fits, else base64.', ['utf8', 'base64']),
      truncated: f.mark('Set where this is only the beginning.'),
    }),
  ),
  'tool.rejected-retry': wideCommand(
    'publish a rejected result again, corrected or as it came',
    { cli: 'result retry', example: { id: 3 }, agents: false },
    {
      id: rejectedId,
      role: f.oneOf('Publish it with this role.', ROLES).optional(),
      body: z
        .string()
        .min(1, 'must not be empty')
        .max(MAX_CORRECTED, `must be at most ${MAX_CORRECTED} characters`)
        .optional()
        .describe('The corrected result. If it still cannot be read, nothing is published.'),
    },
    z.object({
      id: z.int().describe('Its number. The list no longer has it.'),
      dispatch: f.place('Sequence in the DISPATCH stream under which it was published again.'),
    }),
  ),
  'tool.rejected-remove': wideCommand(
    'remove a rejected result for good',
    { cli: 'result rm', example: { id: 3 }, agents: false },
    { id: rejectedId },
    z.object({
      id: z.int().describe('Its number. The list no longer has it.'),
      removed: z.literal(true).describe('It is removed.'),
    }),
  ),
} as const;

export type TimelineListed = f.Output<(typeof RESULT_REQUESTS)['tool.timeline-list']['reply']>;

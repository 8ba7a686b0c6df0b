import { z } from 'zod';
import { ROLES, VERDICTS } from '../kinds.js';
import { recordedFact, recordedRepair } from '../recorded-fact.js';
import { count, faultFields, next, place, sequence, type Told, time } from './page-fields.js';
import { promptTraceBrief } from './prompt-trace.js';

const common = { dispatch: place('Its DISPATCH sequence.'), sequence };
const role = z.enum(ROLES).describe('The role that it was published with.');
const task = z.string().describe('Its task.');

export const dispatchResult = z.discriminatedUnion('status', [
  z
    .object({
      ...common,
      status: z.literal('recorded').describe('It was read and recorded.'),
      role,
      task,
      facts: z.array(recordedFact).describe('Its facts, as its event stores them.'),
      factsOmitted: count('Facts beyond the limit.').exactOptional(),
      repairs: z.array(recordedRepair).exactOptional().describe('Repairs that reading made, if any.'),
      repairsOmitted: count('Repairs beyond the limit.').exactOptional(),
    })
    .meta({ id: 'DispatchRecorded', description: 'It was read, and counts.' }),
  z
    .object({
      ...common,
      status: z.literal('rejected').describe('It could not be used.'),
      role: role.exactOptional(),
      task: z.string().exactOptional().describe('Its task, if that could be read.'),
      ...faultFields,
    })
    .meta({
      id: 'DispatchRefused',
      description: 'It could not be used, and is kept unchanged in DISPATCH_REJECTED.',
    }),
  z
    .object({
      ...common,
      status: z.literal('repeated').describe('It had been counted before.'),
      role,
      task,
    })
    .meta({
      id: 'DispatchRepeated',
      description:
        'A duplicate: a result of this role and task with the same result_id or message id had been counted before.',
    }),
  z.object({ ...common, status: z.literal('counted').describe('It was counted.') }).meta({
    id: 'DispatchCounted',
    description:
      'It was counted, but the session keeps nothing of it: it repeated an earlier result, or newer ones replaced it. The log has the details.',
  }),
]);

/** The fate of a result: the reply of `dispatch-show`, also returned to a publisher that waits. */
export type DispatchResult = Told<typeof dispatchResult>;
export type FactOfDispatch = Told<typeof recordedFact>;

export const TIMELINE_KINDS = ['result', 'rejected', 'command', 'trace', 'prompt'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

const { id, kind, tokens, hash } = promptTraceBrief.shape;

export const timelineEntry = z
  .object({
    key: z.string().describe('Unique within the session.'),
    kind: z
      .enum(TIMELINE_KINDS)
      .describe('A result, a rejected result, a command, trace entries, or a compiled prompt.'),
    at: time('When it happened'),
    sequence: place('Sequence of its event; of a prompt the sequence that it reflects.'),
    type: z.string().describe('Type of its event; prompt.compiled for a prompt.'),
    task: z.string().exactOptional().describe('Its task.'),
    role: z.enum(ROLES).exactOptional().describe('Of a result or a prompt: its role.'),
    verdict: z.enum(VERDICTS).exactOptional().describe('Of a result: its verdict.'),
    failed: z
      .literal(true)
      .exactOptional()
      .describe('A failure: a bad verdict, a rejected result, a failed action.'),
    summary: z.string().describe('What happened, one line of at most 300 characters.'),
    dispatch: place('Of a result: its sequence in the DISPATCH stream.').exactOptional(),
    facts: count('Of a result: number of its facts.').exactOptional(),
    repairs: count('Of a result: number of repairs.').exactOptional(),
    asks: z
      .array(z.string())
      .exactOptional()
      .describe('Of a result: what it asks a person, without questions that have a default.'),
    prompt: z
      .object({
        id,
        kind,
        tokens,
        durationMs: z.number().describe('Milliseconds that it took.'),
        dropped: count('Items left out to fit the budget.'),
        hash,
      })
      .exactOptional()
      .describe('Of a prompt: its figures.'),
  })
  .meta({ id: 'TimelineEntry', description: 'One thing that happened in a session.' });

export const timelineListed = z.object({
  entries: z
    .array(timelineEntry)
    .describe(
      'The newest first. A page may have fewer entries than requested, even none: continue while there is a next.',
    ),
  next,
  sequence,
});

export type TimelineEntry = Told<typeof timelineEntry>;
export type TimelineListed = Told<typeof timelineListed>;

const rejectedShown = z
  .object({
    id: z.int().describe('Its number, for rejected-show, rejected-retry and rejected-remove.'),
    at: time('When it arrived'),
    session: z
      .string()
      .exactOptional()
      .describe('The session that it was published to; left out for an invalid name.'),
    role: z
      .enum(ROLES)
      .exactOptional()
      .describe('The role that it was published with; left out for an unknown one.'),
    subject: z.string().describe('The subject that it was published to.'),
    sequence: place('Its sequence in the DISPATCH stream; 0 if it was never stored there.'),
    ...faultFields,
    bytes: count('Bytes of its body.'),
  })
  .meta({ id: 'RejectedShown', description: 'A result that could not be used, without its body.' });

export const REJECTED_REPLIES = {
  'rejected-list': z.object({
    rejected: z
      .array(rejectedShown)
      .describe('The newest first. A page may have fewer entries than requested if they are large.'),
    total: count(
      'Number of messages; left out if counting would mean reading them. A body stored in several messages counts several times.',
    ).exactOptional(),
    next,
  }),
  'rejected-show': z.object({
    rejected: rejectedShown.describe('The rejected result.'),
    body: z.string().describe('Its body, or a part of it.'),
    encoding: z.enum(['utf8', 'base64']).describe('Encoding of the body: text if it is UTF-8, else base64.'),
    truncated: z.literal(true).exactOptional().describe('Set where this is only a part of the body.'),
    next: z
      .int()
      .exactOptional()
      .describe('The offset at which the rest of the body begins; left out at its end.'),
  }),
  'rejected-retry': z.object({
    id: z.int().describe('Its number, which is no longer in the list.'),
    dispatch: place('Sequence in the DISPATCH stream under which it was published again.'),
  }),
  'rejected-remove': z.object({
    id: z.int().describe('Its number, which is no longer in the list.'),
    removed: z.literal(true).describe('It is removed.'),
  }),
} as const;

export type RejectedShown = Told<typeof rejectedShown>;

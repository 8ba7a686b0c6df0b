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

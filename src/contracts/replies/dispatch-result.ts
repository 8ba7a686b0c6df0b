import { z } from 'zod';
import { ROLES } from '../kinds.js';
import { recordedFact, recordedRepair } from '../recorded-fact.js';
import { count, faultFields, place, sequence, type Told } from './page-fields.js';

const common = { dispatch: place('Its DISPATCH sequence.'), sequence };
const role = z.enum(ROLES).describe('The role that it was published as.');
const task = z.string().describe('The task that it is of.');

export const dispatchResult = z.discriminatedUnion('status', [
  z
    .object({
      ...common,
      status: z.literal('recorded').describe('It gave facts.'),
      role,
      task,
      facts: z.array(recordedFact).describe('Its facts, as its event holds them.'),
      factsOmitted: count('Facts that it gave beyond the limit.').exactOptional(),
      repairs: z
        .array(recordedRepair)
        .exactOptional()
        .describe('What reading it changed or skipped; left out for nothing.'),
      repairsOmitted: count('Repairs beyond the limit.').exactOptional(),
    })
    .meta({ id: 'DispatchRecorded', description: 'It was read, and counts.' }),
  z
    .object({
      ...common,
      status: z.literal('rejected').describe('It could not be used.'),
      role: role.exactOptional(),
      task: z.string().exactOptional().describe('The task that it is of, where it could be read.'),
      ...faultFields,
    })
    .meta({
      id: 'DispatchRefused',
      description: 'It could not be used, and is kept whole in DISPATCH_REJECTED.',
    }),
  z
    .object({
      ...common,
      status: z.literal('repeated').describe('Its result had counted before.'),
      role,
      task,
    })
    .meta({
      id: 'DispatchRepeated',
      description:
        'The same result of this role and task, by its result_id or message id, had counted before: nothing changed.',
    }),
  z.object({ ...common, status: z.literal('counted').describe('It was taken in.') }).meta({
    id: 'DispatchCounted',
    description:
      'It was taken in, and the session keeps nothing of it: it repeated an earlier result, or newer ones have taken its place. Its log knows which.',
  }),
]);

/** The fate of a result: the reply of `dispatch-show`, also returned to a publisher that waits. */
export type DispatchResult = Told<typeof dispatchResult>;
export type FactOfDispatch = Told<typeof recordedFact>;

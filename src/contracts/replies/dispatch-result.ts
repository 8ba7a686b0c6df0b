import { z } from 'zod';
import { ROLES } from '../kinds.js';
import { recordedFact, recordedRepair } from '../recorded-fact.js';
import { count, faultFields, place, sequence, type Told } from './page-fields.js';

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

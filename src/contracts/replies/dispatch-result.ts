import { z } from 'zod';
import { ROLES, VERDICTS } from '../kinds.js';
import { recordedFact, recordedRepair } from '../recorded-fact.js';
import {
  count,
  faultFields,
  list,
  mark,
  named,
  next,
  type Output,
  object,
  oneOf,
  place,
  sequence,
  string,
  strings,
  time,
} from '../schema-fields.js';
import { promptTraceBrief } from './prompt-trace.js';

const common = { dispatch: place('Its DISPATCH sequence.'), sequence };
const role = oneOf('The role that it was published with.', ROLES);
const task = string('Its task.');

export const dispatchResult = z.discriminatedUnion('status', [
  named('DispatchRecorded', 'It was read, and counts.', {
    ...common,
    status: z.literal('recorded').describe('It was read and recorded.'),
    role,
    task,
    facts: list('Its facts, as its event stores them.', recordedFact),
    factsOmitted: count('Facts beyond the limit.').exactOptional(),
    repairs: list('Repairs that reading made, if any.', recordedRepair).exactOptional(),
    repairsOmitted: count('Repairs beyond the limit.').exactOptional(),
  }),
  named('DispatchRefused', 'It could not be used, and is kept unchanged in DISPATCH_REJECTED.', {
    ...common,
    status: z.literal('rejected').describe('It could not be used.'),
    role: role.exactOptional(),
    task: string('Its task, if that could be read.').exactOptional(),
    ...faultFields,
  }),
  named('DispatchRepeated', 'A duplicate: the same result_id or message id was counted before.', {
    ...common,
    status: z.literal('repeated').describe('It had been counted before.'),
    role,
    task,
  }),
  named('DispatchCounted', 'Counted, but nothing of it is kept: a repetition, or since replaced.', {
    ...common,
    status: z.literal('counted').describe('It was counted.'),
  }),
]);

/** The reply of `dispatch-show`, which a publisher that waits gets as well. It says what became of a result. */
export type DispatchResult = Output<typeof dispatchResult>;
export type FactOfDispatch = Output<typeof recordedFact>;

export const TIMELINE_KINDS = ['result', 'rejected', 'command', 'trace', 'prompt'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

const { id, kind, tokens, hash } = promptTraceBrief.shape;

export const timelineEntry = named('TimelineEntry', 'One thing that happened in a session.', {
  key: string('Unique within the session.'),
  kind: oneOf('Result, rejected result, command, trace entries or compiled prompt.', TIMELINE_KINDS),
  at: time('When it happened'),
  sequence: place('Sequence of its event; of a prompt the sequence that it reflects.'),
  type: string('Type of its event; prompt.compiled for a prompt.'),
  task: string('Its task.').exactOptional(),
  role: oneOf('Of a result or a prompt: its role.', ROLES).exactOptional(),
  verdict: oneOf('Of a result: its verdict.', VERDICTS).exactOptional(),
  failed: mark('A failure: a bad verdict, a rejected result, a failed action.'),
  summary: string('What happened, one line of at most 300 characters.'),
  dispatch: place('Of a result: its sequence in the DISPATCH stream.').exactOptional(),
  facts: count('Of a result: number of its facts.').exactOptional(),
  repairs: count('Of a result: number of repairs.').exactOptional(),
  asks: strings('What a result asks a person, without questions that have defaults.').exactOptional(),
  prompt: object('Of a prompt: its figures.', {
    id,
    kind,
    tokens,
    durationMs: z.number().describe('Milliseconds that it took.'),
    dropped: count('Items left out to fit the budget.'),
    hash,
  }).exactOptional(),
});

export const timelineListed = z.object({
  entries: list('Newest first. A page may be short or empty: continue while `next`.', timelineEntry),
  next,
  sequence,
});

export type TimelineEntry = Output<typeof timelineEntry>;
export type TimelineListed = Output<typeof timelineListed>;

export const rejectedShown = named('RejectedShown', 'A result that could not be used, without its body.', {
  id: z.int().describe('Its number, for rejected-show, rejected-retry and rejected-remove.'),
  at: time('When it arrived'),
  session: string('The session it was published to; left out for invalid names.').exactOptional(),
  role: oneOf('The role it was published with; left out if unknown.', ROLES).exactOptional(),
  subject: string('The subject that it was published to.'),
  sequence: place('Its sequence in the DISPATCH stream; 0 if never stored there.'),
  ...faultFields,
  bytes: count('Bytes of its body.'),
});

export type RejectedShown = Output<typeof rejectedShown>;

import { z } from 'zod';
import { ROLES, VERDICTS } from '../kinds.js';
import { TIMELINE_KINDS } from '../timeline-kinds.js';
import { count, next, place, sequence, type Told, time } from './page-fields.js';
import { promptTraceBrief } from './prompt-trace.js';

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

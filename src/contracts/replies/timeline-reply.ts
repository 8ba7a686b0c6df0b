import { z } from 'zod';
import { ROLES, VERDICTS } from '../kinds.js';
import { TIMELINE_KINDS } from '../timeline-kinds.js';
import { count, next, place, sequence, type Told, time } from './page-fields.js';
import { promptTraceBrief } from './prompt-trace.js';

const { id, kind, tokens, hash } = promptTraceBrief.shape;

export const timelineEntry = z
  .object({
    key: z.string().describe('Names the entry within its session.'),
    kind: z
      .enum(TIMELINE_KINDS)
      .describe('A result, one that could not be used, a command, entries of a trace, or a compiled prompt.'),
    at: time('When it happened'),
    sequence: place('Sequence of its event; of a prompt the sequence that it reflects.'),
    type: z.string().describe('Type of its event; prompt.compiled for a prompt.'),
    task: z.string().exactOptional().describe('The task that it is of.'),
    role: z.enum(ROLES).exactOptional().describe('Of a result or a prompt: its role.'),
    verdict: z.enum(VERDICTS).exactOptional().describe('Of a result: its verdict.'),
    failed: z
      .literal(true)
      .exactOptional()
      .describe('It did not go well: a bad verdict, a rejected result, a failed action.'),
    summary: z.string().describe('What happened, one line of at most 300 characters.'),
    dispatch: place('Of a result: its sequence in the DISPATCH stream.').exactOptional(),
    facts: count('Of a result: facts that it gave.').exactOptional(),
    repairs: count('Of a result: what had to be repaired in it.').exactOptional(),
    prompt: z
      .object({
        id,
        kind,
        tokens,
        durationMs: z.number().describe('Milliseconds that it took.'),
        dropped: count('Items left out for lack of room.'),
        hash,
      })
      .exactOptional()
      .describe('Of a prompt: what was compiled.'),
  })
  .meta({ id: 'TimelineEntry', description: 'One thing that happened in a session.' });

export const timelineListed = z.object({
  entries: z
    .array(timelineEntry)
    .describe(
      'The newest first. A page may hold fewer than asked for, even none, where few of many events fit: go on while there is a next.',
    ),
  next,
  sequence,
});

export type TimelineEntry = Told<typeof timelineEntry>;
export type TimelineListed = Told<typeof timelineListed>;

import { z } from 'zod';
import { count, place, time } from './reply-fields.js';
import type { Told } from './told.js';

/** What is kept of a compiled prompt, for lists. */
export const promptTraceBrief = z
  .object({
    id: z.string().describe('Names the prompt within its session.'),
    at: time('When it was compiled'),
    kind: z.enum(['dispatch', 'iteration', 'session-start']).describe('The kind of the prompt.'),
    task: z.string().exactOptional().describe('The task that it is for.'),
    role: z.string().exactOptional().describe('The role that it is for.'),
    sequence: place('Session sequence that it reflects.'),
    tokens: count('Tokens of the prompt.'),
    hash: z.string().describe('Hash of the prompt: the same for the same text.'),
  })
  .meta({ id: 'PromptTraceBrief', description: 'A prompt that was compiled, in short.' });

/** A prompt that was compiled, in short. */
export type PromptTraceBrief = Told<typeof promptTraceBrief>;

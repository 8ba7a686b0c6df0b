import { z } from 'zod';
import { count } from './reply-fields.js';
import type { Told } from './told.js';

const sectionReport = z
  .object({
    name: z.string().describe('Name of the section.'),
    shown: count('Items shown, some of them shortened where room was short.'),
    total: count('Items that there were.'),
    tokens: count('Tokens of the items shown.'),
  })
  .meta({ id: 'SectionReport', description: 'What one section of a prompt shows of what it could.' });

export const budgetReport = z
  .object({
    room: count('Tokens that the whole prompt may have, system text included.'),
    used: count('Tokens of the prompt.'),
    wanted: count('Tokens of the prompt if nothing had been left out.'),
    sections: z.array(sectionReport).describe('The sections that there was something to show in.'),
    dropped: count('Items left out, in all sections but the one that fills the room that is left.'),
    tokenizer: z.string().describe('Name of the tokenizer that counted.'),
  })
  .meta({ id: 'BudgetReport', description: 'How a prompt fills its room.' });

/** What one section of a prompt shows of what it could. */
export type SectionReport = Told<typeof sectionReport>;
/** How a prompt fills its room. */
export type BudgetReport = Told<typeof budgetReport>;

import { z } from 'zod';
import { FACT_TAGS } from './fact-tags.js';
import { SEVERITIES } from './severity.js';

export const recordedFact = z
  .object({
    subject: z.string().describe('What the fact is about.'),
    relation: z.string().describe('How subject and object belong together.'),
    object: z.string().describe('What is said of the subject.'),
    tags: z.array(z.enum(FACT_TAGS)).readonly().describe('What kind of fact it is.'),
    severity: z.enum(SEVERITIES).optional().describe('Of a finding: how much it matters.'),
    fix: z.string().optional().describe('Of a finding: what its reviewer suggests to do.'),
    confidence: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('How certain it is, 0 to 1; left out for certain.'),
  })
  .meta({ id: 'RecordedFact', description: 'A fact as its event holds it.' });

export const recordedRepair = z
  .object({
    kind: z.string().describe('Kind of the repair.'),
    field: z.string().describe('Path of the field; the first one where it happened more than once.'),
    detail: z.string().optional().describe('What was there, or what it became; one short line.'),
    count: z.int().positive().optional().describe('How often, in the items of one list; left out for once.'),
  })
  .meta({ id: 'Repair', description: 'What reading a result changed in it, or left out of it.' });

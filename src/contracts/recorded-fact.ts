import { z } from 'zod';
import { ENDINGS, FACT_TAGS, ORIGINS, SEVERITIES } from './kinds.js';

/** By what another statement ended a statement. */
export const ended = z
  .object({
    by: z.string().describe('Id of the statement that ended it.'),
    how: z.enum(ENDINGS).describe('Replaced, answered or settled.'),
    term: z.string().exactOptional().describe('The term that both are about, if it was not named.'),
  })
  .meta({ id: 'Ended', description: 'The end of a statement by another one.' });
export type Ended = z.output<typeof ended>;

export const recordedFact = z
  .object({
    subject: z.string().describe('Subject of the fact.'),
    relation: z.string().describe('Relation of subject and object.'),
    object: z.string().describe('Object of the fact.'),
    tags: z.array(z.enum(FACT_TAGS)).readonly().describe('Tags of the fact.'),
    severity: z.enum(SEVERITIES).optional().describe('Severity of a finding.'),
    fix: z.string().optional().describe('Suggested fix of a finding.'),
    confidence: z.number().min(0).max(1).optional().describe('Confidence, 0 to 1; left out for 1.'),
    origin: z.enum(ORIGINS).optional().describe('Who states it; left out for an agent.'),
    replaces: z
      .array(z.string())
      .readonly()
      .optional()
      .describe('Ids of the statements that it names to end.'),
    ref: z.string().optional().describe('Id of the statement, such as M7.'),
  })
  .meta({ id: 'RecordedFact', description: 'A fact as its event stores it.' });

/** 16,384 numbers. */
const MAX_VALUES = 21_848;

export const vectorJson = z.object({
  model: z.string().max(1000).describe('The model that made it.'),
  scale: z.number().positive().describe('Factor of the values.'),
  values: z
    .base64()
    .min(4)
    .max(MAX_VALUES)
    .describe('Whole numbers from -127 to 127, one byte each, in Base64.'),
});
export type VectorJson = z.output<typeof vectorJson>;

export const recordedRepair = z
  .object({
    kind: z.string().describe('Kind of the repair.'),
    field: z.string().describe('Path of the field; the first one if it happened more than once.'),
    detail: z.string().optional().describe('Old or new value; one short line.'),
    count: z.int().positive().optional().describe('Number of items of one list; left out for one.'),
  })
  .meta({ id: 'Repair', description: 'A change that reading made to a result.' });

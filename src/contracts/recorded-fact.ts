import { z } from 'zod';
import { ENDINGS, FACT_TAGS, ORIGINS, SEVERITIES } from './kinds.js';
import { named, oneOf, string, strings } from './schema-fields.js';

export const ended = named('Ended', 'The end of a statement.', {
  by: string('The statement, task or limit that ended it, or who removed it.'),
  how: oneOf('Replaced, answered, settled, done, removed or evicted.', ENDINGS),
  term: string('The term that both are about, if it was not named.').exactOptional(),
});
export type Ended = z.output<typeof ended>;

export const statementEnds = z
  .array(z.object({ id: string('Id of the statement that ends.'), ...ended.shape }))
  .readonly()
  .describe('The statements that it ends.');

export const statementScope = named('StatementScope', 'Where a statement holds. Absent: everywhere.', {
  task: string('Only for this task.').optional(),
  paths: strings('Only for files that fit one of these, such as legacy/**.')
    .max(10, 'must be at most 10 paths')
    .readonly()
    .optional(),
  branch: string('Only on this git branch.').optional(),
});
export type StatementScope = z.output<typeof statementScope>;

export const recordedFact = named('RecordedFact', 'A fact as its event stores it.', {
  subject: string('Subject of the fact.'),
  relation: string('Relation of subject and object.'),
  object: string('Object of the fact.'),
  tags: z.array(z.enum(FACT_TAGS)).readonly().describe('Tags of the fact.'),
  severity: oneOf('Severity of a finding.', SEVERITIES).optional(),
  fix: string('Suggested fix of a finding.').optional(),
  confidence: z.number().min(0).max(1).optional().describe('Confidence, 0 to 1; left out for 1.'),
  origin: oneOf('Who states it; left out for an agent.', ORIGINS).optional(),
  by: string('Name of the user who states it.').optional(),
  replaces: z.array(z.string()).readonly().optional().describe('Ids of the statements that it names to end.'),
  not_shown: z
    .array(z.string())
    .readonly()
    .optional()
    .describe('Ids that it names, but that its agent was not shown.'),
  ref: string('Id of the statement, such as M7.').optional(),
  scope: statementScope.optional(),
});

export const recordedRepair = named('Repair', 'A change that reading made to a result.', {
  kind: string('Kind of the repair.'),
  field: string('Path of the field; of several, the first.'),
  detail: string('Old or new value; one short line.').optional(),
  count: z.int().positive().optional().describe('Number of items of one list; left out for one.'),
});

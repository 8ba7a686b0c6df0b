import { z } from 'zod';
import { SPAN_PATTERN, TERM_PATTERN } from '../shared/age.js';
import { termFields } from './retention-record.js';
import { sessionName } from './session-name.js';
import { toolOfNone } from './tool-shape.js';

/** The tools that say how long things are kept. */

const term = (about: string) =>
  z
    .string()
    .regex(TERM_PATTERN, 'must be a number of days, such as 90d, or never')
    .optional()
    .describe(`${about} Days such as 90d, or never.`);

export const RETENTION_TOOLS = {
  'retention-show': toolOfNone('show how long things are kept, and what the rules would do now', '', {
    ahead: z
      .string()
      .regex(SPAN_PATTERN, 'must be a number with m, h or d, such as 12h or 30d')
      .optional()
      .describe('What they would do after so long if nothing moved until then, such as 30d.'),
  }),
  'retention-set': toolOfNone(
    'set how long things are kept, for the installation or a project; the keeper enforces it from then on',
    '--archive-after 90d --forget-after 365d',
    {
      project: sessionName.optional().describe('Only for sessions of this project.'),
      ...termFields(term),
      remove: z.boolean().default(false).describe('Remove the rule of the installation or the project.'),
      dryRun: z.boolean().default(false).describe('Only show what the rules would do then.'),
    },
  ),
} as const;

import { z } from 'zod';
import { time } from './reply-fields.js';

export const CLAIM_REPLIES = {
  'run-claim': z.object({
    claimed: z.boolean().describe('True if the run holds the lease now.'),
    holder: z.string().exactOptional().describe('The run that holds it; left out after a release.'),
    since: time('When that run claimed it').exactOptional(),
  }),
} as const;

import { z } from 'zod';
import { count } from './reply-fields.js';
import type { Told } from './told.js';

/** The replies of the tools that erase what is stored. */

const stored = z
  .object({
    events: count('Events.'),
    dispatches: count('Results as they were published.'),
    rejected: count('Messages of rejected results.'),
    snapshots: count('Snapshots.'),
    prompts: count('Compiled prompts.'),
    telemetry: count('Records of telemetry.'),
    index: count('Entries of the index of sessions.'),
    evidence: count('Places in learnings that name a session as their source.'),
    proposals: count('Proposals that rest on a session alone.'),
    learnings: count('Learnings that go.'),
  })
  .meta({ id: 'StoredCounts', description: 'How much is stored, by kind.' });

/** How much is stored, by kind. */
export type StoredCounts = Told<typeof stored>;

const progress = {
  state: z
    .enum(['counted', 'running', 'done'])
    .describe('Whether it was only counted, goes on, or is done. While it goes on, ask again.'),
  found: stored.describe('What there was when it began; of a request that only counts, what there is.'),
  erased: stored.describe('What is erased so far.'),
  forgotten: z.literal(true).exactOptional().describe('It was forgotten before, and nothing was left of it.'),
};

export const FORGET_REPLIES = {
  'session-forget': z.object({
    session: z.string().describe('Name of the session.'),
    ...progress,
  }),
  'project-forget': z.object({
    project: z.string().describe('Name of the project.'),
    sessions: z.array(z.string()).describe('Its sessions that there were, at most 1000 of them.'),
    total: count('How many sessions there were.'),
    ...progress,
  }),
} as const;

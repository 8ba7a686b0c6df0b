import { z } from 'zod';
import {
  LEARNING_TYPES,
  learningEvidence,
  learningSource,
  PROPOSAL_METHODS,
  PROPOSAL_STATUSES,
  RELEVANCE_METHODS,
} from '../learning-events.js';
import type { LearningRequest } from '../request-names.js';
import { count, place, type Told, time } from './page-fields.js';

const said = {
  id: z.string().describe('Id of the proposal, and of the learning that it may become.'),
  type: z.enum(LEARNING_TYPES).describe('What kind of learning it is.'),
  content: z.string().describe('One line of at most 200 characters.'),
  tags: z.array(z.string()).describe('Words to find it by.'),
  source: learningSource.describe('Where it was first seen.'),
  evidence: z.array(learningEvidence).describe('Dispatches that speak for it, the newest last.'),
  extractedAt: time('When it was proposed'),
  confidence: z.number().exactOptional().describe('How certain it is, 0 to 1.'),
};

const learning = z
  .object({ ...said, confirmedAt: time('When it became a learning') })
  .meta({ id: 'Learning', description: 'Something about a project that later sessions should know.' });

const proposal = z
  .object({
    ...said,
    status: z.enum(PROPOSAL_STATUSES).describe('What was decided.'),
    method: z.enum(PROPOSAL_METHODS).describe('How it came about.'),
    decidedAt: time('When it was decided').exactOptional(),
    decidedBy: z.string().exactOptional().describe('Who decided it.'),
    reason: z.string().exactOptional().describe('Why it was decided so.'),
    mergedInto: z.string().exactOptional().describe('The learning that says it already.'),
  })
  .meta({ id: 'Proposal', description: 'A learning that someone proposed, and what was decided.' });

const retirement = z
  .object({
    how: z.enum(['superseded', 'retracted']).describe('What became of it.'),
    at: time('When that was'),
    by: z.string().describe('Who did it.'),
    replacement: z.string().exactOptional().describe('The learning that took its place.'),
    reason: z.string().exactOptional().describe('Why.'),
  })
  .meta({ id: 'Retirement', description: 'Why a learning holds no more.' });

const ofProject = {
  project: z.string().describe('The project.'),
  sequence: place('Sequence of the stream LEARNINGS that the answer reflects.'),
};

const viewFields = {
  ...ofProject,
  proposal: proposal.describe('The proposal.'),
  learning: learning
    .nullable()
    .describe('The active learning that it became, or was merged into; null for none.'),
  retired: retirement.exactOptional().describe('Why the learning that it became was retired.'),
  similar: z
    .object({
      learning: z.string().describe('Id of the learning.'),
      content: z.string().describe('What it says.'),
      similarity: z.number().describe('0.7 to 1; 1 for the same words.'),
    })
    .nullable()
    .describe('An active learning that says nearly the same; null for none.'),
};
const proposalView = z
  .object(viewFields)
  .meta({ id: 'ProposalView', description: 'A proposal with its outcome.' });

const page = {
  total: count('Entries of all pages.'),
  next: z.string().exactOptional().describe('Where there are more: the cursor of the next page.'),
};

export const LEARNING_REPLIES = {
  'learning.propose': z.object({
    ...viewFields,
    existing: z.boolean().describe('Whether it was proposed, or was a learning, already.'),
  }),
  'learning.list': z.object({
    ...ofProject,
    learnings: z
      .array(
        z.object({
          ...learning.shape,
          retired: retirement.exactOptional().describe('Why it holds no more.'),
        }),
      )
      .describe('The newest first; of retired ones, the one that was retired last.'),
    ...page,
  }),
  'learning.search': z.object({
    ...ofProject,
    method: z.enum(RELEVANCE_METHODS).describe('How they were found.'),
    results: z
      .array(
        z.object({
          learning: learning.describe('The learning.'),
          score: z
            .number()
            .describe(
              'Half for each way that found it, words and meaning: a half where it came first, a quarter where it came second, and so on. 1 is first both ways, 0 is where only recency chose it.',
            ),
          similarity: z
            .number()
            .exactOptional()
            .describe("Cosine of its vector and the query's, 0 to 1; only where it was found by meaning."),
        }),
      )
      .describe('The most relevant first.'),
    total: count('Learnings of the project.'),
  }),
  'learning.edit': proposalView,
  'learning.supersede': proposalView,
  'learning.retract': proposalView,
  'proposal.list': z.object({
    ...ofProject,
    proposals: z.array(proposal).describe('The newest first.'),
    ...page,
    rulesPaused: z
      .boolean()
      .exactOptional()
      .describe('Set when so many are pending that rules propose nothing more.'),
    sessionsPaused: z
      .array(z.string())
      .exactOptional()
      .describe('Sessions with so many pending ones that rules propose nothing more of theirs.'),
  }),
  'proposal.show': proposalView,
  'proposal.accept': proposalView,
  'proposal.reject': proposalView,
} as const satisfies Readonly<Record<LearningRequest, z.ZodType>>;

/** A proposal with its outcome. */
export type ProposalView = Told<typeof proposalView>;
/** The reply to each request. */
export type LearningReply<Subject extends LearningRequest> = Told<(typeof LEARNING_REPLIES)[Subject]>;

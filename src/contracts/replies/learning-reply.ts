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
  type: z.enum(LEARNING_TYPES).describe('Kind of learning.'),
  content: z.string().describe('One line of at most 200 characters.'),
  tags: z.array(z.string()).describe('Search words.'),
  source: learningSource.describe('Its source.'),
  evidence: z.array(learningEvidence).describe('Results that support it, the newest last.'),
  extractedAt: time('When it was proposed'),
  confidence: z.number().exactOptional().describe('Confidence, 0 to 1.'),
};

const learning = z
  .object({ ...said, confirmedAt: time('When it became a learning') })
  .meta({ id: 'Learning', description: 'Knowledge about a project for later sessions.' });

const proposal = z
  .object({
    ...said,
    status: z.enum(PROPOSAL_STATUSES).describe('The decision.'),
    method: z.enum(PROPOSAL_METHODS).describe('The way it came about.'),
    decidedAt: time('When it was decided').exactOptional(),
    decidedBy: z.string().exactOptional().describe('Who decided it.'),
    reason: z.string().exactOptional().describe('Reason of the decision.'),
    mergedInto: z.string().exactOptional().describe('The learning that it was merged into.'),
  })
  .meta({ id: 'Proposal', description: 'A proposed learning, and the decision on it.' });

const retirement = z
  .object({
    how: z.enum(['superseded', 'retracted']).describe('Its fate.'),
    at: time('When that was'),
    by: z.string().describe('Who made the change.'),
    replacement: z.string().exactOptional().describe('The learning that replaced it.'),
    reason: z.string().exactOptional().describe('Why.'),
  })
  .meta({ id: 'Retirement', description: 'Why a learning was retired.' });

const ofProject = {
  project: z.string().describe('The project.'),
  sequence: place('Sequence in the stream LEARNINGS that the answer reflects.'),
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
      content: z.string().describe('The text.'),
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
  next: z.string().exactOptional().describe('Cursor of the next page; absent on the last page.'),
};

export const LEARNING_REPLIES = {
  'learning.propose': z.object({
    ...viewFields,
    existing: z.boolean().describe('True if it was already proposed, or a learning.'),
  }),
  'learning.list': z.object({
    ...ofProject,
    learnings: z
      .array(
        z.object({
          ...learning.shape,
          retired: retirement.exactOptional().describe('Why it was retired.'),
        }),
      )
      .describe('The newest first; retired ones by when they were retired.'),
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
              'Sum of two ranks, by words and by meaning: a half for the first place, a quarter for the second, and so on. 1 is first in both, 0 was selected by recency alone.',
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
    rulesPaused: z.boolean().exactOptional().describe('Set when so many are pending that rules pause.'),
    sessionsPaused: z
      .array(z.string())
      .exactOptional()
      .describe('Sessions with so many pending that rules pause for them.'),
    projects: z
      .array(
        z.object({
          project: z.string().describe('Name of the project.'),
          pending: count('Proposals to decide on.'),
          active: count('Accepted learnings.'),
        }),
      )
      .exactOptional()
      .describe('Projects with a proposal or a learning, those with most to decide first: at most 500.'),
  }),
  'proposal.show': proposalView,
  'proposal.accept': proposalView,
  'proposal.reject': proposalView,
} as const satisfies Readonly<Record<LearningRequest, z.ZodType>>;

/** A proposal with its outcome. */
export type ProposalView = Told<typeof proposalView>;
/** The reply to each request. */
export type LearningReply<Subject extends LearningRequest> = Told<(typeof LEARNING_REPLIES)[Subject]>;

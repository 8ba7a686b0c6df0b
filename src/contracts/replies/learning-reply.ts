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
import {
  boolean,
  count,
  list,
  named,
  type Output,
  oneOf,
  place,
  string,
  strings,
  time,
  vectors,
} from '../schema-fields.js';

const said = {
  id: string('Id of the proposal, and of the learning that it may become.'),
  type: oneOf('Kind of learning.', LEARNING_TYPES),
  content: string('One line of at most 200 characters.'),
  tags: strings('Search words.'),
  source: learningSource.describe('Its source.'),
  evidence: list('Results that support it, the newest last.', learningEvidence),
  extractedAt: time('When it was proposed'),
  confidence: z.number().exactOptional().describe('Confidence, 0 to 1.'),
};

const learning = named('Learning', 'Knowledge about a project for later sessions.', {
  ...said,
  confirmedAt: time('When it became a learning'),
});

export const proposal = named('Proposal', 'A proposed learning, and the decision on it.', {
  ...said,
  status: oneOf('The decision.', PROPOSAL_STATUSES),
  method: oneOf('The way it came about.', PROPOSAL_METHODS),
  decidedAt: time('When it was decided').exactOptional(),
  decidedBy: string('Who decided it.').exactOptional(),
  reason: string('Reason of the decision.').exactOptional(),
  mergedInto: string('The learning that it was merged into.').exactOptional(),
});

export const retirement = named('Retirement', 'Why a learning was retired.', {
  how: oneOf('Its fate.', ['superseded', 'retracted']),
  at: time('When that was'),
  by: string('Who made the change.'),
  replacement: string('The learning that replaced it.').exactOptional(),
  reason: string('Why.').exactOptional(),
});

const ofProject = {
  project: string('The project.'),
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
      learning: string('Id of the learning.'),
      content: string('The text.'),
      similarity: z.number().describe('0.7 to 1; 1 for the same words.'),
    })
    .nullable()
    .describe('An active learning that says nearly the same; null for none.'),
};
const proposalView = named('ProposalView', 'A proposal with its outcome.', viewFields);

const page = {
  total: count('Entries of all pages.'),
  next: string('Cursor of the next page; absent on the last page.').exactOptional(),
};

export const LEARNING_REPLIES = {
  'learning.propose': z.object({
    ...viewFields,
    existing: boolean('True if it was already proposed, or a learning.'),
  }),
  'learning.list': z.object({
    ...ofProject,
    learnings: list(
      'The newest first; retired ones by when they were retired.',
      z.object({
        ...learning.shape,
        retired: retirement.exactOptional().describe('Why it was retired.'),
      }),
    ),
    ...page,
  }),
  'learning.search': z.object({
    ...ofProject,
    method: oneOf('How they were found.', RELEVANCE_METHODS),
    vectors,
    results: list(
      'The most relevant first.',
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
    ),
    total: count('Learnings of the project.'),
  }),
  'learning.edit': proposalView,
  'learning.supersede': proposalView,
  'learning.retract': proposalView,
  'proposal.list': z.object({
    ...ofProject,
    proposals: list('The newest first.', proposal),
    ...page,
    rulesPaused: boolean('Set when so many are pending that rules pause.').exactOptional(),
    sessionsPaused: strings('Sessions with so many pending that rules pause for them.').exactOptional(),
    projects: list(
      'Projects with a proposal or a learning, those with most to decide first: at most 500.',
      z.object({
        project: string('Name of the project.'),
        pending: count('Proposals to decide on.'),
        active: count('Accepted learnings.'),
      }),
    ).exactOptional(),
  }),
  'proposal.show': proposalView,
  'proposal.accept': proposalView,
  'proposal.reject': proposalView,
} as const satisfies Readonly<Record<LearningRequest, z.ZodType>>;

/** A proposal with its outcome. */
export type ProposalView = Output<typeof proposalView>;
/** The reply to each request. */
export type LearningReply<Subject extends LearningRequest> = Output<(typeof LEARNING_REPLIES)[Subject]>;

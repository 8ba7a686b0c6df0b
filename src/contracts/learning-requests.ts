import { z } from 'zod';
import { quoted } from '../shared/text.js';
import {
  LEARNING_TYPES,
  learningEvidence,
  learningSource,
  MAX_LEARNING,
  PROPOSAL_METHODS,
  PROPOSAL_STATUSES,
  RELEVANCE_METHODS,
} from './learning-events.js';
import { between, decides, flag, projectCommand, projectQuery, text } from './request-row.js';
import * as f from './schema-fields.js';

const UNKNOWN = 'unknown';
const content = text(MAX_LEARNING);
const type = f.oneOf('Kind of learning.', LEARNING_TYPES);
const tags = z.array(text(64)).max(20, 'must be at most 20 tags').describe('Search words.');
/** One line without control characters, since messages and terminals show it. */
const by = text(128)
  .transform((name) => quoted(name) || UNKNOWN)
  .default(UNKNOWN)
  .describe('Who decides it.');
const decider = { by, person: decides };
const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of A-Z a-z 0-9 _ and -');
const id = text(64).describe('Its id, or a unique prefix of at least three characters.');
const reason = text(MAX_LEARNING).transform(quoted).optional().describe('Why, in words.');
const limit = between(1, 1000).default(200).describe('Maximum length of the list.');
const cursor = id.optional().describe('Cursor of the page: next of the previous page.');
export const DEFAULT_MAX_LEARNINGS = 5;
export const PROMPT_LEARNINGS = { dispatch: 3, iteration: 5, 'session-start': 5 } as const;
/** Minimum cosine of a learning found by meaning. */
export const DEFAULT_MIN_SIMILARITY = 0.2;

export const minSimilarity = z.number().min(0, 'must be 0 to 1').max(1, 'must be 0 to 1');
export const maxLearnings = between(0, 100);

const learningFields = {
  id: f.string('Id of the proposal, and of the learning that it may become.'),
  type: f.oneOf('Kind of learning.', LEARNING_TYPES),
  content: f.string('One line of at most 200 characters.'),
  tags: f.strings('Search words.'),
  source: learningSource.describe('Its source.'),
  evidence: f.list('Results that support it, the newest last.', learningEvidence),
  extractedAt: f.time('When it was proposed'),
  confidence: z.number().exactOptional().describe('Confidence, 0 to 1.'),
};

const learning = f.named('Learning', 'Knowledge about a project for later sessions.', {
  ...learningFields,
  confirmedAt: f.time('When it became a learning'),
});

export const proposal = f.named('Proposal', 'A proposed learning as it is now, with its newest decision.', {
  ...learningFields,
  status: f.oneOf('The newest decision.', PROPOSAL_STATUSES),
  method: f.oneOf('The way it came about.', PROPOSAL_METHODS),
  decidedAt: f.time('When it was decided').exactOptional(),
  decidedBy: f.string('Who decided it.').exactOptional(),
  reason: f.string('Reason of the decision.').exactOptional(),
  mergedInto: f.string('The learning that it was merged into.').exactOptional(),
});

const ofProject = {
  project: f.string('The project.'),
  sequence: f.place('Sequence in the stream LEARNINGS that the answer reflects.'),
};

const viewFields = {
  ...ofProject,
  proposal: proposal.describe('The proposal.'),
  learning: learning.nullable().describe('The active learning it became or was merged into; null for none.'),
  similar: z
    .object({
      learning: f.string('Id of the learning.'),
      content: f.string('The text.'),
      similarity: z.number().describe('0.7 to 1; 1 for the same words.'),
    })
    .nullable()
    .describe('An active learning that says nearly the same; null for none.'),
};
const proposalView = f.named('ProposalView', 'A proposal with its outcome.', viewFields);

const page = {
  total: f.count('Entries of all pages.'),
  next: f.string('Cursor of the next page; absent on the last page.').exactOptional(),
};

export const LEARNING_REQUESTS = {
  'learning.propose': projectCommand(
    'propose a learning, which reaches prompts only after a person accepts it',
    {
      cli: 'learning propose <content>',
      example: { content: 'Run the linter before you hand in', type: 'pattern', tags: ['lint'] },
    },
    {
      content: content.describe('One sentence of at most 200 characters.'),
      type: type.default('insight').describe('Kind of learning.'),
      tags: tags.default([]).describe('Search words.'),
      confidence: z
        .number()
        .min(0, 'must be 0 to 1')
        .max(1, 'must be 0 to 1')
        .optional()
        .describe('Confidence, 0 to 1. Default: 0.5.'),
      source: z
        .object({
          session: name.optional().describe('Name of the session.'),
          dispatch: z
            .int()
            .positive('must be a sequence, 1 or more')
            .optional()
            .describe('Sequence in the DISPATCH stream.'),
          note: name.optional().describe('Id of the note.'),
        })
        .default({})
        .describe('Its source.'),
    },
    z.object({ ...viewFields, existing: f.boolean('True if it was already proposed, or a learning.') }),
  ),
  'learning.list': projectQuery(
    'list the learnings of a project, the newest first',
    { cli: 'learning ls' },
    { limit, cursor },
    z.object({ ...ofProject, learnings: f.list('The newest first.', learning), ...page }),
  ),
  'learning.search': projectQuery(
    'find the learnings that are relevant to a text, as prompts do',
    { cli: 'learning search <query>', example: { query: 'handle errors in the parser' } },
    {
      query: text(10_000).describe('Topic of the learnings.'),
      maxResults: maxLearnings.optional().describe('Maximum number of learnings.'),
      minSimilarity: minSimilarity
        .optional()
        .describe('Minimum similarity of learnings that are found by meaning.'),
    },
    z.object({
      ...ofProject,
      method: f.oneOf('How they were found.', RELEVANCE_METHODS),
      vectors: f.vectors,
      results: f.list(
        'The most relevant first.',
        z.object({
          learning: learning.describe('The learning.'),
          score: z.number().describe('Fused rank by words and meaning: 1 first in both, 0 recency.'),
        }),
      ),
      total: f.count('Learnings of the project.'),
    }),
  ),
  'learning.retract': projectCommand(
    'retract a learning: it stays on record, but no longer reaches prompts',
    { cli: 'learning retract <id>', example: { id: 'abc12', reason: 'We use biome now' }, agents: false },
    { id, reason, ...decider },
    proposalView,
  ),
  'proposal.list': projectQuery(
    'list the proposals of a project, the newest first',
    { cli: 'learning ls', agents: false },
    {
      status: z
        .enum([...PROPOSAL_STATUSES, 'all'])
        .default('pending')
        .describe('Which proposals to list.'),
      projects: flag.describe('Also count the proposals and learnings of all projects.'),
      limit,
      cursor,
    },
    z.object({
      ...ofProject,
      proposals: f.list('The newest first.', proposal),
      ...page,
      rulesPaused: f.boolean('Set when so many are pending that rules pause.').exactOptional(),
      sessionsPaused: f.strings('Sessions with so many pending that rules pause for them.').exactOptional(),
      projects: f
        .list(
          'Up to 500 projects with learnings, those with most to decide first.',
          z.object({
            project: f.string('Name of the project.'),
            pending: f.count('Proposals to decide on.'),
            active: f.count('Accepted learnings.'),
          }),
        )
        .exactOptional(),
    }),
  ),
  'proposal.show': projectQuery(
    'show a proposal with its evidence and the most similar learning',
    { cli: 'learning show <id>', example: { id: 'abc12' }, agents: false },
    { id },
    proposalView,
  ),
  'proposal.accept': projectCommand(
    'make a proposal a learning; near duplicates are merged',
    { cli: 'learning accept <id>', example: { id: 'abc12', merge: true }, agents: false },
    {
      id,
      ...decider,
      merge: flag.describe('Add it to the learning that says nearly the same.'),
      separate: flag.describe('Keep it beside a learning that says nearly the same.'),
    },
    proposalView,
  ),
  'proposal.reject': projectCommand(
    'reject a proposal: only a person can propose the same again',
    {
      cli: 'learning reject <id>',
      example: { id: 'abc12', reason: 'True of one module only' },
      agents: false,
    },
    { id, reason, ...decider },
    proposalView,
  ),
} as const;

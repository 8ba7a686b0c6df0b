import { z } from 'zod';
import { type EventFormat, eventOf, type Stored } from './event.js';
import { list, named, oneOf, string, strings } from './schema-fields.js';

/** Events of learnings, version 1, on `learning.<project>.<type>`. An accepted proposal is a learning with the same id. */
export const LEARNING_TYPES = ['pattern', 'insight', 'self_knowledge'] as const;
/** The kind of a learning. */
export type LearningType = (typeof LEARNING_TYPES)[number];

export const PROPOSAL_METHODS = ['note', 'recurring_fix', 'recurring_issue', 'convention', 'manual'] as const;
/** The way a proposal came about. */
export type ProposalMethod = (typeof PROPOSAL_METHODS)[number];

export const PROPOSAL_STATUSES = ['pending', 'accepted', 'rejected', 'retracted'] as const;

/** By words and meaning, by one of them, or by age if neither matches. */
export const RELEVANCE_METHODS = ['hybrid', 'semantic', 'lexical', 'recency'] as const;
/** The way relevant learnings were found. */
export type RelevanceMethod = (typeof RELEVANCE_METHODS)[number];

export const MAX_LEARNING = 200;

export const learningKey = z
  .string()
  .regex(/^[0-9a-f]{12}$/)
  .describe('Id of a proposal and of the learning that it may become.');

const sequence = z.int().positive();

export const learningSource = named('LearningSource', 'Source of a learning.', {
  session: string('Name of the session.').optional(),
  dispatch: sequence.optional().describe('Sequence in the DISPATCH stream.'),
  note: string('Id of the note.').optional(),
});

export const learningEvidence = named('LearningEvidence', 'A result that supports a learning.', {
  session: string('Name of the session.'),
  dispatch: sequence.describe('Sequence in the DISPATCH stream.'),
  task: string('Id of the task.'),
});
/** A dispatch that supports a learning. */
export type LearningEvidence = Readonly<z.output<typeof learningEvidence>>;

const type = oneOf('Kind of learning.', LEARNING_TYPES);
const tags = strings('Search words.');
const by = string('Who made the change.');

export const DEMAND_KINDS = ['fix', 'issue', 'convention'] as const;

const learningEvents = [
  eventOf('proposed', {
    proposal: learningKey,
    type,
    content: string('One line of at most 200 characters.'),
    tags,
    confidence: z.number().min(0).max(1).exactOptional().describe('Confidence, 0 to 1.'),
    method: oneOf('The way it came about.', PROPOSAL_METHODS),
    source: learningSource.describe('Its source.'),
    evidence: list('Results that support it.', learningEvidence),
  }),
  eventOf('accepted', {
    proposal: learningKey,
    by,
    merged_into: learningKey
      .optional()
      .describe('An existing learning that says the same; it gets the evidence.'),
  }),
  eventOf('rejected', { proposal: learningKey, by, reason: string('Why, in words.').optional() }),
  eventOf('retracted', { learning: learningKey, by, reason: string('Why, in words.').optional() }),
  /** Stored when a session was forgotten. Replaces the state when folded, so that older events may be removed. */
  eventOf('checkpoint', {
    state: string('The state: a snapshot of the project, gzip, Base64.'),
  }),
  /** Demands that recur become proposals. */
  eventOf('observed', {
    session: string('Name of the session.'),
    dispatch: sequence.describe('Sequence in the DISPATCH stream.'),
    task: string('Id of the task.'),
    demands: list(
      'The demands of the review.',
      z.object({
        id: learningKey.describe('Id of the demand; the same demand always has the same.'),
        kind: oneOf('Kind of its field.', DEMAND_KINDS),
        text: string('Its wording.'),
      }),
    ),
  }),
] as const;

export const learningEvent = z.discriminatedUnion('type', learningEvents);

export type LearningEvent = z.output<typeof learningEvent>;
export type LearningEventOf<Type extends LearningEvent['type']> = Extract<LearningEvent, { type: Type }>;
export type StoredLearningEvent = Stored<LearningEvent>;

export const LEARNING_EVENTS: EventFormat<LearningEvent> = {
  kind: 'project',
  pathOf: ({ type }) => type,
  expectedAt: () => '>',
  parse: (json) => learningEvent.safeParse(json).data,
};

import { z } from 'zod';
import { type EventFormat, eventOf, parseEvent, type Stored } from './event.js';

/**
 * The events of a project's learnings, version 1, on `learning.<project>.<type>`. A proposal that is accepted becomes a
 * learning under the same id.
 */
export const LEARNING_TYPES = ['pattern', 'insight', 'self_knowledge'] as const;
/** What kind of learning it is. */
export type LearningType = (typeof LEARNING_TYPES)[number];

/** How a proposal came about. */
export const PROPOSAL_METHODS = ['note', 'recurring_fix', 'recurring_issue', 'convention', 'manual'] as const;
/** How a proposal came about. */
export type ProposalMethod = (typeof PROPOSAL_METHODS)[number];

/** What was decided on a proposal. */
export const PROPOSAL_STATUSES = ['pending', 'accepted', 'rejected'] as const;

/** How relevant learnings were found: by words and meaning, by one of them alone, or, as neither fits, by their age. */
export const RELEVANCE_METHODS = ['hybrid', 'semantic', 'lexical', 'recency'] as const;
/** How relevant learnings were found. */
export type RelevanceMethod = (typeof RELEVANCE_METHODS)[number];

/** Longest text of a learning, in characters. */
export const MAX_LEARNING = 200;

/** Id of a proposal and of the learning that it may become: 12 hex characters. */
export const learningKey = z
  .string()
  .regex(/^[0-9a-f]{12}$/)
  .describe('Id of a proposal and of the learning that it may become.');

const sequence = z.int().positive();

/** Where a learning was first seen. */
export const learningSource = z
  .object({
    session: z.string().optional().describe('Name of the session.'),
    dispatch: sequence.optional().describe('Sequence in the DISPATCH stream.'),
    note: z.string().optional().describe('Id of the note.'),
  })
  .meta({ id: 'LearningSource', description: 'Where a learning was first seen.' });
export type LearningSource = Readonly<z.output<typeof learningSource>>;

/** A dispatch that speaks for a learning. */
export const learningEvidence = z
  .object({
    session: z.string().describe('Name of the session.'),
    dispatch: sequence.describe('Sequence in the DISPATCH stream.'),
    task: z.string().describe('Id of the task.'),
  })
  .meta({ id: 'LearningEvidence', description: 'A dispatch that speaks for a learning.' });
/** A dispatch that speaks for a learning. */
export type LearningEvidence = Readonly<z.output<typeof learningEvidence>>;

const type = z.enum(LEARNING_TYPES).describe('What kind of learning it is.');
const tags = z.array(z.string()).describe('Words to find it by.');
const by = z.string().describe('Who did it.');

/** What a reviewer asked for, by the kind of field it stood in. */
export const DEMAND_KINDS = ['fix', 'issue', 'convention'] as const;

const learningEvents = [
  eventOf('proposed', {
    proposal: learningKey,
    type,
    content: z.string().describe('One line of at most 200 characters.'),
    tags,
    confidence: z.number().min(0).max(1).exactOptional().describe('How certain it is, 0 to 1.'),
    method: z.enum(PROPOSAL_METHODS).describe('How it came about.'),
    source: learningSource.describe('Where it was first seen.'),
    evidence: z.array(learningEvidence).describe('Dispatches that speak for it.'),
  }),
  eventOf('accepted', {
    proposal: learningKey,
    by,
    merged_into: learningKey
      .optional()
      .describe('The learning that says the same already: the proposal adds its evidence to that one.'),
  }),
  eventOf('rejected', {
    proposal: learningKey,
    by,
    reason: z.string().optional().describe('Why, in words.'),
  }),
  eventOf('edited', {
    learning: learningKey,
    content: z.string().optional().describe('One line of at most 200 characters.'),
    type: type.optional(),
    tags: tags.optional(),
    by,
  }),
  eventOf('superseded', {
    learning: learningKey,
    replacement: learningKey.describe('The learning that takes its place.'),
    by,
  }),
  eventOf('retracted', {
    learning: learningKey,
    by,
    reason: z.string().optional().describe('Why, in words.'),
  }),
  /**
   * The whole state, so that what came before in the log may be removed: where it is folded, the state is what it carries.
   */
  eventOf('checkpoint', {
    state: z.string().describe('The state: a snapshot of the project, gzip, Base64.'),
    reason: z
      .enum(['session_forgotten', 'project_forgotten'])
      .describe('Whether a session that learnings came from was forgotten, or the project.'),
  }),
  /** What a review demanded: demands that come again become proposals. */
  eventOf('observed', {
    session: z.string().describe('Name of the session.'),
    dispatch: sequence.describe('Sequence in the DISPATCH stream.'),
    task: z.string().describe('Id of the task.'),
    demands: z
      .array(
        z.object({
          id: learningKey.describe('Id that the same demand has each time.'),
          kind: z.enum(DEMAND_KINDS).describe('Kind of field in which it stood.'),
          text: z.string().describe('As it was worded.'),
        }),
      )
      .describe('What the review demanded.'),
  }),
] as const;

export const learningEvent = z.discriminatedUnion('type', learningEvents);

/** One event of a project's learnings. */
export type LearningEvent = z.output<typeof learningEvent>;
export type LearningEventOf<Type extends LearningEvent['type']> = Extract<LearningEvent, { type: Type }>;
export type StoredLearningEvent = Stored<LearningEvent>;

/** The events of project logs. */
export const LEARNING_EVENTS: EventFormat<LearningEvent> = {
  kind: 'project',
  isCommand: () => true,
  parse: (json) => parseEvent(learningEvent, json),
};

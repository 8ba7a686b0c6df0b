import { z } from 'zod';
import { type EventFormat, eventOf, parseEvent, type Stored } from './event.js';

/**
 * The events of a project's learnings, version 1, on `learning.<project>.<type>`. A proposal that is accepted becomes a
 * learning under the same id.
 */
export const LEARNING_TYPES = ['pattern', 'insight', 'self_knowledge'] as const;
export type LearningType = (typeof LEARNING_TYPES)[number];

/** How a proposal came about. */
export const PROPOSAL_METHODS = ['note', 'recurring_fix', 'recurring_issue', 'convention', 'manual'] as const;
export type ProposalMethod = (typeof PROPOSAL_METHODS)[number];

/** What was decided on a proposal. */
export const PROPOSAL_STATUSES = ['pending', 'accepted', 'rejected'] as const;

/** How relevant learnings were found: by words and meaning, by one of them alone, or, as neither fits, by their age. */
export const RELEVANCE_METHODS = ['hybrid', 'semantic', 'lexical', 'recency'] as const;
export type RelevanceMethod = (typeof RELEVANCE_METHODS)[number];

/** Longest text of a learning, in characters. */
export const MAX_LEARNING = 200;

/** Id of a proposal and of the learning that it may become: 12 hex characters. */
export const learningKey = z.string().regex(/^[0-9a-f]{12}$/);

const sequence = z.int().positive();

/** Where a learning was first seen. */
export const learningSource = z.object({
  session: z.string().optional(),
  /** Sequence in the `DISPATCH` stream. */
  dispatch: sequence.optional(),
  note: z.string().optional(),
});
export type LearningSource = Readonly<z.output<typeof learningSource>>;

/** A dispatch that speaks for a learning. */
export const learningEvidence = z.object({ session: z.string(), dispatch: sequence, task: z.string() });
export type LearningEvidence = Readonly<z.output<typeof learningEvidence>>;

const type = z.enum(LEARNING_TYPES);
const tags = z.array(z.string());
const by = z.string();

/** What a reviewer asked for, by the kind of field it stood in. */
export const DEMAND_KINDS = ['fix', 'issue', 'convention'] as const;

const learningEvents = [
  eventOf('proposed', {
    proposal: learningKey,
    type,
    content: z.string(),
    tags,
    confidence: z.number().min(0).max(1).exactOptional(),
    method: z.enum(PROPOSAL_METHODS),
    source: learningSource,
    evidence: z.array(learningEvidence),
  }),
  eventOf('accepted', {
    proposal: learningKey,
    by,
    /** The learning that says the same already: the proposal adds its evidence to that one. */
    merged_into: learningKey.optional(),
  }),
  eventOf('rejected', { proposal: learningKey, by, reason: z.string().optional() }),
  eventOf('edited', {
    learning: learningKey,
    content: z.string().optional(),
    type: type.optional(),
    tags: tags.optional(),
    by,
  }),
  eventOf('superseded', { learning: learningKey, replacement: learningKey, by }),
  eventOf('retracted', { learning: learningKey, by, reason: z.string().optional() }),
  /** What a review demanded: demands that come again become proposals. */
  eventOf('observed', {
    session: z.string(),
    dispatch: sequence,
    task: z.string(),
    demands: z.array(z.object({ id: learningKey, kind: z.enum(DEMAND_KINDS), text: z.string() })),
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

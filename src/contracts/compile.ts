import { z } from 'zod';
import { ROLES } from './names.js';
import { taskId } from './results.js';

/** `prompt.compile`: what is asked and what comes back. Unknown keys are ignored. */

export const DEFAULT_MAX_FACTS = 10;
export const DEFAULT_MAX_TOKENS = 500;

const sequence = z.int().positive('must be a sequence, 1 or more');

export const compileRequest = z
  .object({
    /** The session to remember. */
    session: z.string(),
    taskId,
    /** What the next agent is asked to do; the facts are chosen by its words. */
    taskPrompt: z.string().min(1, 'must not be empty').max(200_000, 'must be at most 200000 characters'),
    kind: z.literal('dispatch', 'must be "dispatch"').default('dispatch'),
    role: z.enum(ROLES).default('implementer'),
    /** Only facts that carry one of these. */
    tags: z
      .array(z.enum(['file_change', 'convention', 'decision', 'error', 'dependency', 'test']))
      .optional(),
    maxFacts: z.int().min(0).max(1000).default(DEFAULT_MAX_FACTS),
    /** Token budget of the facts, four characters a token. */
    maxTokens: z.int().min(0).max(1_000_000).default(DEFAULT_MAX_TOKENS),
    /** A `DISPATCH` sequence, from a publisher's PubAck: the prompt reflects that dispatch, or the reply is an error. */
    after: sequence.optional(),
    /** A session sequence: the prompt as it was when that event was the last. */
    asOf: sequence.optional(),
    /** Adds to each fact where it comes from and why it was chosen. */
    explain: z.boolean().default(false),
  })
  .refine((request) => request.after === undefined || request.asOf === undefined, {
    message: 'cannot be combined with after: asOf asks for the past, after for the newest',
    path: ['asOf'],
  });

/** A request as a caller writes it. */
export type CompileRequestInput = z.input<typeof compileRequest>;
/** A request with its defaults filled in. */
export type CompileRequest = z.output<typeof compileRequest>;

/** A fact of a reply. */
export interface CompiledFact {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly taskId: string;
}

/** A fact of a reply to a request with `explain`. */
export interface ExplainedFact extends CompiledFact {
  /** `createFactId` of its words. */
  readonly id: string;
  /** Sequence of its dispatch in the `DISPATCH` stream. */
  readonly dispatch: number;
  /** Sequence of its event in the session's stream. */
  readonly eventSequence: number;
  /** Share of the query's words that it holds, 0 to 1. */
  readonly score: number;
  readonly tokens: number;
}

export interface CompileReply {
  readonly prompt: string;
  /** The facts as they stand in the prompt; empty without any. */
  readonly sessionContext: string;
  readonly facts: readonly (CompiledFact | ExplainedFact)[];
  readonly factsShown: number;
  /** Valid facts that the session holds. */
  readonly factsTotal: number;
  /** The whole prompt, at four characters a token. */
  readonly tokenEstimate: number;
  /** The session sequence that the prompt reflects; 0 for a session without events. */
  readonly sequence: number;
  /** Sequence of the snapshot that the load began from; 0 for none. */
  readonly snapshotSequence: number;
  /** Events read and folded for this request. */
  readonly replayed: number;
}

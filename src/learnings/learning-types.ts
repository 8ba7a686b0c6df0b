import type {
  LearningEvidence,
  LearningSource,
  LearningType,
  ProposalMethod,
} from '../contracts/learning-events.js';

export type { RelevanceMethod } from '../contracts/learning-events.js';

/** What an accepted proposal is: one sentence that holds across the sessions of a project. */
export interface Learning {
  /** That of its proposal. */
  readonly id: string;
  readonly type: LearningType;
  /** One quoted line of at most 200 characters. */
  readonly content: string;
  readonly tags: readonly string[];
  readonly source: LearningSource;
  /** Dispatches that speak for it, the newest last. */
  readonly evidence: readonly LearningEvidence[];
  /** ISO 8601, as all times. */
  readonly extractedAt: string;
  readonly confirmedAt: string;
  /** 0 to 1. */
  readonly confidence?: number;
}

/** What a person has to decide on and, once decided, the decision. */
export interface Proposal extends Omit<Learning, 'confirmedAt'> {
  readonly status: 'pending' | 'accepted' | 'rejected';
  readonly method: ProposalMethod;
  readonly decidedAt?: string;
  readonly decidedBy?: string;
  readonly reason?: string;
  /** Accepted as one that a learning says already. */
  readonly mergedInto?: string;
}

/** A learning with its relevance for one query. */
export interface RankedLearning {
  readonly learning: Learning;
  /**
   * Half for each way that found it, words and meaning: a half where it came first, a quarter where it came second, and
   * so on. 1 is first both ways, 0 is where only recency chose it.
   */
  readonly score: number;
  /** Cosine of its vector and the query's, 0 to 1; only where it was found by meaning. */
  readonly similarity?: number;
}

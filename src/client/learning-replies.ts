import type { LearningRequest } from '../contracts/learning-requests.js';
import type { Learning, Proposal, RankedLearning, RelevanceMethod } from '../learnings/learning-types.js';
import type { ListedLearning, Retirement } from '../learnings/learnings-state.js';
import type { NearDuplicate } from '../learnings/near-duplicate.js';

/** Replies of the service `learnings`. */

interface OfProject {
  readonly project: string;
  /** Sequence of the stream `LEARNINGS` that the answer reflects. */
  readonly sequence: number;
}

/** A proposal with its outcome. */
export interface ProposalView extends OfProject {
  readonly proposal: Proposal;
  /** The active learning that it became, or was merged into. */
  readonly learning: Learning | null;
  /** Why the learning that it became was retired. */
  readonly retired?: Retirement;
  /** An active learning that says nearly the same. */
  readonly similar: NearDuplicate | null;
}

interface Replies {
  /** `existing`: it was proposed, or was a learning, already. */
  readonly 'learning.propose': ProposalView & { readonly existing: boolean };
  /** The newest first; of retired ones, the one that was retired last. */
  readonly 'learning.list': OfProject & {
    readonly learnings: readonly ListedLearning[];
    /** Of all pages. */
    readonly total: number;
    /** Where there are more: the `cursor` of the next page. */
    readonly next?: string;
  };
  /** The most relevant first, and how they were found. */
  readonly 'learning.search': OfProject & {
    readonly method: RelevanceMethod;
    readonly results: readonly RankedLearning[];
    /** Learnings of the project. */
    readonly total: number;
  };
  /** The newest first. */
  readonly 'proposal.list': OfProject & {
    readonly proposals: readonly Proposal[];
    /** Of all pages. */
    readonly total: number;
    /** Where there are more: the `cursor` of the next page. */
    readonly next?: string;
    /** Set when so many are pending that rules propose nothing more. */
    readonly rulesPaused?: boolean;
    /** Sessions with so many pending ones that rules propose nothing more of theirs. */
    readonly sessionsPaused?: readonly string[];
  };
}

/** The reply to each request. */
export type LearningReply<Subject extends LearningRequest> = Subject extends keyof Replies
  ? Replies[Subject]
  : ProposalView;

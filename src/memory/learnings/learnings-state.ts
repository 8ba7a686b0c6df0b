import type {
  DEMAND_KINDS,
  LearningEvidence,
  LearningSource,
  LearningType,
  ProposalMethod,
} from '../../contracts/learning-events.js';

/** Everything that a project's events add up to. `evolve` owns and changes it; everybody else only reads. */
export interface LearningState {
  readonly project: string;
  /** By id, in the order in which they were first proposed. */
  readonly entries: Map<string, Entry>;
  /** The learnings that hold: accepted, not merged away, superseded or retracted. */
  readonly active: Map<string, Learning>;
  /** What reviews demanded, by its id. */
  readonly observations: Map<string, Observation>;
  /** Sequence up to which the log has been folded; 0 before the first event. */
  sequence: number;
  /** Sequence of the newest event that counted; 0 before the first. Other messages may follow it. */
  lastEvent: number;
  /** Time of the newest event, ISO 8601; empty before the first. */
  lastEventAt: string;
}

/** A proposal with what became of it. */
export interface Entry {
  readonly proposal: Proposal;
  /** The learning that it became, as it is now or was when it was taken away. */
  readonly learning?: Learning;
  readonly retired?: Retirement;
}

/** Why a learning holds no more. */
export interface Retirement {
  readonly how: 'superseded' | 'retracted';
  readonly at: string;
  readonly by: string;
  /** The learning that took its place. */
  readonly replacement?: string;
  readonly reason?: string;
}

/** An active learning, or a retired one with the reason. */
export interface ListedLearning extends Learning {
  readonly retired?: Retirement;
}

interface RetiredLearning extends Learning {
  readonly retired: Retirement;
}

/** The learnings that hold no more, as they were last; the one that was taken away last comes first. */
export function retiredLearnings({ entries }: LearningState): RetiredLearning[] {
  return [...entries.values()]
    .flatMap(({ learning, retired }) => (learning && retired ? [{ ...learning, retired }] : []))
    .sort((a, b) =>
      a.retired.at < b.retired.at ? 1 : a.retired.at > b.retired.at ? -1 : a.id < b.id ? -1 : 1,
    );
}

/** A demand of reviewers, and where it was made. */
export interface Observation {
  readonly kind: (typeof DEMAND_KINDS)[number];
  /** As it was worded first. */
  readonly text: string;
  /** The dispatch that worded it so. */
  readonly first: number;
  /** One for each task of a session, the newest last. */
  readonly evidence: readonly LearningEvidence[];
}

export function emptyLearnings(project: string): LearningState {
  return {
    project,
    entries: new Map(),
    active: new Map(),
    observations: new Map(),
    sequence: 0,
    lastEvent: 0,
    lastEventAt: '',
  };
}

/** Bytes of memory of one proposal or observation with its evidence, about. */
const ENTRY = 1500;

/** About how many bytes of memory a state takes. */
export function learningBytes({ entries, observations }: LearningState): number {
  return ENTRY * (1 + entries.size + observations.size);
}

/** What a proposal is once it is accepted. */
export function learningOf(proposal: Proposal, confirmedAt: string): Learning {
  const { id, type, content, tags, source, evidence, extractedAt, confidence } = proposal;
  return {
    id,
    type,
    content,
    tags,
    source,
    evidence,
    extractedAt,
    confirmedAt,
    ...(confidence !== undefined && { confidence }),
  };
}

/** What a state shows, and goes on showing while the state itself changes. */
export interface LearningsView {
  readonly active: ReadonlyMap<string, Learning>;
  /** Proposals that wait for a decision, the newest first. */
  readonly pending: readonly Proposal[];
  readonly sequence: number;
}

/** Made again only after an event: thousands of learnings are not copied for each prompt. */
const views = new WeakMap<LearningState, LearningsView>();

export function viewOf(state: LearningState): LearningsView {
  const known = views.get(state);
  if (known?.sequence === state.sequence) return known;
  const proposals = [...state.entries.values()].map(({ proposal }) => proposal);
  const view = {
    active: new Map(state.active),
    pending: proposals.filter(({ status }) => status === 'pending').reverse(),
    sequence: state.sequence,
  };
  views.set(state, view);
  return view;
}

export type { RelevanceMethod } from '../../contracts/learning-events.js';

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

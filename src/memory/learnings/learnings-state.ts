import type { DEMAND_KINDS, LearningEvidence } from '../../contracts/learning-events.js';
import type { LearningReply, ProposalView } from '../../contracts/replies/learning-reply.js';

/** The fold of a project's events. Only `evolve` changes it. */
export interface LearningState {
  readonly project: string;
  /** By id, in the order of their first proposal. */
  readonly entries: Map<string, Entry>;
  /** Active learnings: accepted, and neither merged, superseded nor retracted. */
  readonly active: Map<string, Learning>;
  /** Demands of reviews by id. */
  readonly observations: Map<string, Observation>;
  /** Sequence up to which the log has been folded; 0 before the first event. */
  sequence: number;
  /** Sequence of the newest event that counted; 0 before the first. Other messages may follow it. */
  lastEvent: number;
  /** Time of the newest event, ISO 8601; empty before the first. */
  lastEventAt: string;
}

/** A proposal with its outcome. */
export interface Entry {
  readonly proposal: Proposal;
  /** The learning that it became, as it is now or was before it was retired. */
  readonly learning?: Learning;
  readonly retired?: Retirement;
}

/** Why a learning was retired. */
export type Retirement = NonNullable<ListedLearning['retired']>;

/** An active learning, or a retired one with the reason. */
export type ListedLearning = LearningReply<'learning.list'>['learnings'][number];

interface RetiredLearning extends Learning {
  readonly retired: Retirement;
}

/** Returns retired learnings, the latest first. */
export function retiredLearnings({ entries }: LearningState): RetiredLearning[] {
  return [...entries.values()]
    .flatMap(({ learning, retired }) => (learning && retired ? [{ ...learning, retired }] : []))
    .sort((a, b) =>
      a.retired.at < b.retired.at ? 1 : a.retired.at > b.retired.at ? -1 : a.id < b.id ? -1 : 1,
    );
}

/** A reviewers' demand with its evidence. */
export interface Observation {
  readonly kind: (typeof DEMAND_KINDS)[number];
  /** The first wording. */
  readonly text: string;
  /** The dispatch of that wording. */
  readonly first: number;
  /** One per task of a session, the newest last. */
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

/** Approximate memory of a proposal or observation with its evidence. */
const ENTRY = 1500;

/** Estimates the memory of a state in bytes. */
export function learningBytes({ entries, observations }: LearningState): number {
  return ENTRY * (1 + entries.size + observations.size);
}

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

/** An immutable view of a state. */
export interface LearningsView {
  readonly active: ReadonlyMap<string, Learning>;
  /** Pending proposals, the newest first. */
  readonly pending: readonly Proposal[];
  readonly sequence: number;
}

/** Cached per event, to avoid copying thousands of learnings for each prompt. */
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

/** An accepted proposal: one sentence that is valid across the sessions of a project. */
export type Learning = RankedLearning['learning'];

/** A learning proposed for a person to decide on and, once decided, the decision. */
export type Proposal = ProposalView['proposal'];

/** A learning with its relevance for one query. */
export type RankedLearning = LearningReply<'learning.search'>['results'][number];

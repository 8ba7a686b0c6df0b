import type { DEMAND_KINDS, LearningEvidence } from '../contracts/learning-events.js';
import type { Learning, Proposal } from './learning-types.js';

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

export interface RetiredLearning extends Learning {
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

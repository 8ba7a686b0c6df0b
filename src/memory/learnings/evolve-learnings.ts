import { assertNever } from '../../contracts/errors.js';
import type { LearningEventOf, StoredLearningEvent } from '../../contracts/learning-events.js';
import { defined } from '../../shared/collections.js';
import { confidenceOf, withEvidence } from './harvest.js';
import { restoreLearnings } from './learnings-snapshot.js';
import {
  type Entry,
  type Learning,
  type LearningState,
  learningOf,
  type Observation,
  type Proposal,
} from './learnings-state.js';

/**
 * Folds an event into the state, in place. An event that no longer applies, such as a second decision, is ignored.
 *
 * Demands of reviews are order-insensitive and idempotent, as long as none was evicted.
 */
export function evolveLearnings(state: LearningState, stored: StoredLearningEvent): void {
  const { sequence, after = sequence, event } = stored;
  state.sequence = sequence;
  // Every event of a project is decided on the previous one: a copy does not count.
  if (after < state.lastEvent) return;
  state.lastEvent = sequence;
  if (event.at > state.lastEventAt) state.lastEventAt = event.at;
  switch (event.type) {
    case 'proposed':
      propose(state, event);
      return;
    case 'accepted':
      accept(state, event);
      return;
    case 'rejected':
      changePending(state, event.data.proposal, (proposal) => ({
        ...decided(proposal, 'rejected', event),
        ...(event.data.reason !== undefined && { reason: event.data.reason }),
      }));
      return;
    case 'edited':
      edit(state, event);
      return;
    case 'superseded':
    case 'retracted':
      retire(state, event);
      return;
    case 'observed':
      observe(state, event);
      return;
    case 'checkpoint':
      restoreLearnings(state, event);
      return;
    default:
      assertNever(event);
  }
}

/** Limit of remembered demands; the least recent are evicted. */
const MAX_OBSERVATIONS = 2000;

function propose(state: LearningState, { at, data }: LearningEventOf<'proposed'>): void {
  const { proposal: id, ...words } = data;
  const known = state.entries.get(id);
  // A pending or active one stays unchanged. A person may repeat a rejected or retracted one; rules do not.
  if (known?.proposal.status === 'pending' || state.active.has(id)) return;
  if (known !== undefined && words.method !== 'manual') return;
  state.entries.delete(id);
  state.entries.set(id, { proposal: { id, ...words, extractedAt: at, status: 'pending' } });
}

function accept(state: LearningState, event: LearningEventOf<'accepted'>): void {
  const { proposal: id, merged_into } = event.data;
  const entry = state.entries.get(id);
  if (entry?.proposal.status !== 'pending') return;
  const proposal = decided(entry.proposal, 'accepted', event);
  if (merged_into !== undefined) {
    state.entries.set(id, { proposal: { ...proposal, mergedInto: merged_into } });
    addEvidence(state, merged_into, proposal);
    return;
  }
  setLearning(state, { proposal }, learningOf(proposal, event.at));
}

function edit(state: LearningState, { data }: LearningEventOf<'edited'>): void {
  const { learning: id, content, type, tags } = data;
  const change = defined({ content, type, tags });
  changePending(state, id, (proposal) => ({ ...proposal, ...change }));
  changeLearning(state, id, (learning) => ({ ...learning, ...change }));
}

function retire(state: LearningState, event: LearningEventOf<'superseded' | 'retracted'>): void {
  const { learning: id, by } = event.data;
  const entry = state.entries.get(id);
  if (entry === undefined || !state.active.delete(id)) return;
  const { at, type: how } = event;
  state.entries.set(id, {
    ...entry,
    retired: {
      how,
      at,
      by,
      ...(event.type === 'superseded' && { replacement: event.data.replacement }),
      ...(event.type === 'retracted' && event.data.reason !== undefined && { reason: event.data.reason }),
    },
  });
}

function observe(state: LearningState, { data }: LearningEventOf<'observed'>): void {
  const { session, dispatch, task, demands } = data;
  for (const { id, kind, text } of demands) {
    const known = state.observations.get(id);
    const evidence = withEvidence(known?.evidence ?? [], [{ session, dispatch, task }]);
    const worded = known === undefined || dispatch < known.first ? { kind, text, first: dispatch } : known;
    state.observations.set(id, { ...worded, evidence });
    addEvidence(state, state.entries.get(id)?.proposal.mergedInto ?? id, { evidence });
  }
  forgetOldest(state);
}

function forgetOldest({ observations }: LearningState): void {
  while (observations.size > MAX_OBSERVATIONS) {
    let [oldest, at] = ['', Number.POSITIVE_INFINITY];
    for (const [id, observation] of observations) {
      const newest = newestOf(observation);
      // Breaks ties by id, to be independent of the order of arrival.
      if (newest < at || (newest === at && id < oldest)) [oldest, at] = [id, newest];
    }
    observations.delete(oldest);
  }
}

function newestOf({ evidence }: Observation): number {
  return evidence.at(-1)?.dispatch ?? 0;
}

/** Evidence raises the confidence of a pending demand. */
function addEvidence(state: LearningState, id: string, { evidence }: Pick<Proposal, 'evidence'>): void {
  changePending(state, id, (proposal) => {
    const all = withEvidence(proposal.evidence, evidence);
    return { ...proposal, evidence: all, ...(isRecurring(proposal) && { confidence: confidenceOf(all) }) };
  });
  changeLearning(state, id, (learning) => ({
    ...learning,
    evidence: withEvidence(learning.evidence, evidence),
  }));
}

function isRecurring({ method }: Proposal): boolean {
  return method !== 'note' && method !== 'manual';
}

function decided(
  proposal: Proposal,
  status: 'accepted' | 'rejected',
  { at, data }: LearningEventOf<'accepted' | 'rejected'>,
): Proposal {
  return { ...proposal, status, decidedAt: at, decidedBy: data.by };
}

function changePending(state: LearningState, id: string, change: (proposal: Proposal) => Proposal): void {
  const entry = state.entries.get(id);
  if (entry?.proposal.status !== 'pending') return;
  state.entries.set(id, { ...entry, proposal: change(entry.proposal) });
}

function changeLearning(state: LearningState, id: string, change: (learning: Learning) => Learning): void {
  const [entry, learning] = [state.entries.get(id), state.active.get(id)];
  if (entry !== undefined && learning !== undefined) setLearning(state, entry, change(learning));
}

function setLearning(state: LearningState, entry: Entry, learning: Learning): void {
  state.entries.set(learning.id, { ...entry, learning });
  state.active.set(learning.id, learning);
}

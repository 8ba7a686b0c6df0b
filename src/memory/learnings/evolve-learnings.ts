import { assertNever } from '../../contracts/errors.js';
import type { LearningEventOf, StoredLearningEvent } from '../../contracts/learning-events.js';
import { defined } from '../../shared/collections.js';
import { confidenceOf, isRecurring, NOTE_RULE, withEvidence } from './harvest.js';
import { restoreLearnings } from './learnings-snapshot.js';
import { type LearningState, learningOf, type Proposal } from './learnings-state.js';

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
      if (!state.active.has(event.data.proposal)) decide(state, event.data.proposal, event);
      return;
    case 'retracted':
      if (!state.active.has(event.data.learning)) return;
      decide(state, event.data.learning, event);
      state.active.delete(event.data.learning);
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

const MAX_OBSERVATIONS = 2000;

function propose(state: LearningState, { at, data }: LearningEventOf<'proposed'>): void {
  const { proposal: id, ...words } = data;
  const known = state.proposals.get(id);
  // A pending or active one stays unchanged. A person may repeat what a person rejected or retracted; rules do not.
  if (known?.status === 'pending' || state.active.has(id)) return;
  if (known !== undefined && words.method !== 'manual' && known.decidedBy !== NOTE_RULE) return;
  state.proposals.delete(id);
  // A proposal that is repeated keeps its origin: evidence goes on to raise the confidence of a demand.
  const method = known?.method ?? words.method;
  state.proposals.set(id, { id, ...words, method, extractedAt: at, status: 'pending' });
}

function accept(state: LearningState, { at, data }: LearningEventOf<'accepted'>): void {
  const { proposal: id, by, merged_into: mergedInto } = data;
  const known = state.proposals.get(id);
  if (known?.status !== 'pending') return;
  const proposal = defined({
    ...known,
    status: 'accepted' as const,
    decidedAt: at,
    decidedBy: by,
    mergedInto,
  });
  state.proposals.set(id, proposal);
  if (mergedInto === undefined) state.active.set(id, learningOf(proposal));
  else addEvidence(state, mergedInto, proposal.evidence);
}

function decide(
  state: LearningState,
  id: string,
  { type: status, at, data }: LearningEventOf<'rejected' | 'retracted'>,
): void {
  change(state, id, (proposal) =>
    defined({ ...proposal, status, decidedAt: at, decidedBy: data.by, reason: data.reason }),
  );
}

function observe(state: LearningState, { data }: LearningEventOf<'observed'>): void {
  const { session, dispatch, task, demands } = data;
  for (const { id, kind, text } of demands) {
    const known = state.observations.get(id);
    const evidence = withEvidence(known?.evidence ?? [], [{ session, dispatch, task }]);
    const worded = known === undefined || dispatch < known.first ? { kind, text, first: dispatch } : known;
    state.observations.set(id, { ...worded, evidence });
    addEvidence(state, state.proposals.get(id)?.mergedInto ?? id, evidence);
  }
  while (state.observations.size > MAX_OBSERVATIONS) {
    let [oldest, at] = ['', Number.POSITIVE_INFINITY];
    for (const [id, observation] of state.observations) {
      const newest = observation.evidence.at(-1)?.dispatch ?? 0;
      // Breaks ties by id, to be independent of the order of arrival.
      if (newest < at || (newest === at && id < oldest)) [oldest, at] = [id, newest];
    }
    state.observations.delete(oldest);
  }
}

function addEvidence(state: LearningState, id: string, added: Proposal['evidence']): void {
  change(state, id, (proposal) => {
    const evidence = withEvidence(proposal.evidence, added);
    const isCounted = proposal.status === 'pending' && isRecurring(proposal);
    return { ...proposal, evidence, ...(isCounted && { confidence: confidenceOf(evidence) }) };
  });
}

/** Changes a pending proposal or an active learning; what was rejected, merged or retracted stays as it was. */
function change(state: LearningState, id: string, changed: (proposal: Proposal) => Proposal): void {
  const known = state.proposals.get(id);
  const isActive = state.active.has(id);
  if (known === undefined || (known.status !== 'pending' && !isActive)) return;
  const proposal = changed(known);
  state.proposals.set(id, proposal);
  if (isActive) state.active.set(id, learningOf(proposal));
}

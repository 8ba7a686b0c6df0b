import { confidenceOf } from './harvest.js';
import {
  type Entry,
  emptyLearnings,
  type Learning,
  type LearningState,
  type Proposal,
} from './learnings-state.js';

/** Counts of what learnings and proposals lose when a session is forgotten. */
export interface ForgottenLearnings {
  /** Results of the session used as evidence, and mentions of it as a source. */
  evidence: number;
  /** Proposals that only this session supports, and demands of its reviews. */
  proposals: number;
  /** Learnings that only this session supports, if they were to be removed. */
  learnings: number;
}

interface Chosen {
  /** Also remove accepted learnings that only the session supports. Otherwise they stay, without naming it. */
  readonly withLearnings: boolean;
}

/**
 * Removes a session from a project's state: its evidence, and the proposals that only it supports. An accepted learning
 * belongs to the project: it stays, unless requested, without its source.
 */
export function withoutSession(
  state: LearningState,
  session: string,
  { withLearnings }: Chosen,
): { readonly state: LearningState; readonly forgotten: ForgottenLearnings } {
  const forgotten: ForgottenLearnings = { evidence: 0, proposals: 0, learnings: 0 };
  const rest: LearningState = { ...emptyLearnings(state.project), lastEventAt: state.lastEventAt };
  const clean = <Said extends Proposal | Learning>(said: Said): Said => {
    const evidence = said.evidence.filter((each) => each.session !== session);
    const isFirst = said.source.session === session;
    forgotten.evidence += said.evidence.length - evidence.length + (isFirst ? 1 : 0);
    if (evidence.length === said.evidence.length && !isFirst) return said;
    return { ...said, evidence, ...(isFirst && { source: {} }) };
  };
  for (const [id, entry] of state.entries) {
    const isLearning = entry.learning !== undefined;
    if (restsOn(entry, session) && (!isLearning || withLearnings)) {
      forgotten[isLearning ? 'learnings' : 'proposals'] += 1;
      continue;
    }
    const before = forgotten.evidence;
    const proposal = clean(entry.proposal);
    // An accepted learning repeats the evidence of its proposal.
    const counted = forgotten.evidence;
    const learning = entry.learning && clean(entry.learning);
    if (forgotten.evidence > counted && counted > before) forgotten.evidence = counted;
    rest.entries.set(id, {
      ...entry,
      proposal: surely(entry.proposal, proposal),
      ...(learning && { learning }),
    });
  }
  for (const id of state.active.keys()) {
    const learning = rest.entries.get(id)?.learning;
    if (learning !== undefined) rest.active.set(id, learning);
  }
  for (const [id, observation] of state.observations) {
    const evidence = observation.evidence.filter((each) => each.session !== session);
    if (evidence.length === observation.evidence.length) rest.observations.set(id, observation);
    else {
      forgotten.evidence += observation.evidence.length - evidence.length;
      if (evidence.length > 0) rest.observations.set(id, { ...observation, evidence });
    }
  }
  return { state: rest, forgotten };
}

/** True if all evidence comes from one session. */
function restsOn({ proposal, learning }: Entry, session: string): boolean {
  const evidence = [...proposal.evidence, ...(learning?.evidence ?? [])];
  const isFirst = proposal.source.session === session;
  if (evidence.length === 0) return isFirst;
  return (
    evidence.every((each) => each.session === session) && (isFirst || proposal.source.session === undefined)
  );
}

/** Lowers the confidence of a demand with fewer tasks. */
function surely(before: Proposal, proposal: Proposal): Proposal {
  const isCounted =
    proposal.confidence !== undefined && proposal.method !== 'note' && proposal.method !== 'manual';
  if (!isCounted || proposal.status !== 'pending' || before.evidence.length === proposal.evidence.length)
    return proposal;
  return { ...proposal, confidence: confidenceOf(proposal.evidence) };
}

import { confidenceOf } from './harvest.js';
import {
  type Entry,
  emptyLearnings,
  type Learning,
  type LearningState,
  type Proposal,
} from './learnings-state.js';

interface Chosen {
  /** Also remove accepted learnings that only the session supports. Otherwise they stay, without naming it. */
  readonly withLearnings: boolean;
}

/**
 * Removes a session from a project's state: its evidence, and the proposals that only it supports. An accepted learning
 * belongs to the project: it stays, unless requested, without its source.
 *
 * @returns `changed`: how many proposals, learnings and demands of reviews have lost something
 */
export function withoutSession(
  state: LearningState,
  session: string,
  { withLearnings }: Chosen,
): { readonly state: LearningState; readonly changed: number } {
  const rest: LearningState = { ...emptyLearnings(state.project), lastEventAt: state.lastEventAt };
  let changed = 0;
  const others = (evidence: Proposal['evidence']) => evidence.filter((item) => item.session !== session);
  const clean = <Said extends Proposal | Learning>(record: Said): Said => {
    const evidence = others(record.evidence);
    const isFirst = record.source.session === session;
    if (evidence.length === record.evidence.length && !isFirst) return record;
    return { ...record, evidence, ...(isFirst && { source: {} }) };
  };
  for (const [id, entry] of state.entries) {
    const isRemoved = restsOn(entry, session) && (entry.learning === undefined || withLearnings);
    const proposal = clean(entry.proposal);
    const learning = entry.learning && clean(entry.learning);
    if (isRemoved || proposal !== entry.proposal || learning !== entry.learning) changed += 1;
    if (isRemoved) continue;
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
    const evidence = others(observation.evidence);
    if (evidence.length > 0) rest.observations.set(id, { ...observation, evidence });
    if (evidence.length < observation.evidence.length) changed += 1;
  }
  return { state: rest, changed };
}

/** True if all evidence comes from one session. */
function restsOn({ proposal, learning }: Entry, session: string): boolean {
  const evidence = [...proposal.evidence, ...(learning?.evidence ?? [])];
  const isFirst = proposal.source.session === session;
  if (evidence.length === 0) return isFirst;
  return (
    evidence.every((item) => item.session === session) && (isFirst || proposal.source.session === undefined)
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

import type { LearningReply, ProposalView } from '../../contracts/replies/learning-reply.js';
import { ask } from '../ask.js';
import { decide } from './decisions.js';

/** What a person decides on a proposal, and how it is sent. */

export type PendingProposal = LearningReply<'proposal.list'>['proposals'][number];
export type ProposalVerdict = 'accept' | 'merge' | 'separate' | 'reject';

const SAID: Readonly<Record<ProposalVerdict, string>> = {
  accept: 'Accepted',
  merge: 'Merged',
  separate: 'Accepted beside the other',
  reject: 'Rejected',
};

/** Who decides, as the learning keeps it. */
const BY = 'inspector';

/** Decides on a proposal; it is sent after a while, and can be taken back until then. */
export function decideOn(
  { id, content }: PendingProposal,
  verdict: ProposalVerdict,
  project: string | undefined,
): void {
  const of = project === undefined ? { id, by: BY } : { id, by: BY, project };
  decide({
    id,
    said: SAID[verdict],
    text: content,
    send: async (leaving) => {
      const how = { outlivesPage: leaving };
      if (verdict === 'reject') await ask('proposal.reject', of, undefined, how);
      else {
        const kept = verdict === 'accept' ? of : { ...of, [verdict]: true };
        await ask('proposal.accept', kept, undefined, how);
      }
    },
  });
}

/** How to accept a proposal beside what is known already: one that says the same can only be merged. */
export function acceptVerdict(similar: ProposalView['similar']): ProposalVerdict {
  if (similar === null) return 'accept';
  return similar.similarity >= 1 ? 'merge' : 'separate';
}

/** How a proposal came about, in words. */
export const METHODS: Readonly<Record<PendingProposal['method'], string>> = {
  note: 'from a note of an agent',
  recurring_fix: 'a fix that was asked for again and again',
  recurring_issue: 'an issue that came up again and again',
  convention: 'a convention that reviewers named',
  manual: 'proposed by a person or an agent',
};

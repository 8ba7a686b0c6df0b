import { signal } from '@preact/signals';
import type { LearningReply, ProposalView } from '../../contracts/replies/learning-reply.js';
import { ask } from '../ask.js';

/**
 * Decisions that can be taken back for a while: each is sent when its time is up, or at once when the page is left. Until
 * then nothing has happened but on the screen.
 */
interface Undoable {
  /** What is decided on. */
  readonly id: string;
  /** What was decided, for people: `Accepted`. */
  readonly said: string;
  readonly text: string;
  /** Sends it. `leaving`: the page goes away, so the request must outlive it. */
  readonly send: (leaving: boolean) => Promise<void>;
}

/** How long a decision can be taken back, in milliseconds. */
export const UNDO_MS = 10_000;

interface WaitingDecision extends Undoable {
  /** When it is sent, in milliseconds of `Date.now()`. */
  readonly due: number;
}

/** What was decided and is not sent, the newest last. */
export const waiting = signal<readonly WaitingDecision[]>([]);
/** Decisions that are being sent, or were sent: they are not shown as open again. */
export const sent = signal<ReadonlySet<string>>(new Set());
/** Why the last one could not be sent. */
export const failed = signal<{ readonly text: string; readonly error: unknown } | undefined>(undefined);

const timers = new Map<string, ReturnType<typeof setTimeout>>();

/** Decides. What was decided on the same before is replaced. */
export function decide(decision: Undoable): void {
  takeBack(decision.id);
  waiting.value = [...waiting.value, { ...decision, due: Date.now() + UNDO_MS }];
  timers.set(
    decision.id,
    setTimeout(() => carryOut(decision, false), UNDO_MS),
  );
}

/** Takes back what was decided on this, or else what was decided last. Returns on what. */
export function takeBack(id: string | undefined = waiting.value.at(-1)?.id): string | undefined {
  if (id === undefined || !waiting.value.some((each) => each.id === id)) return undefined;
  clearTimeout(timers.get(id));
  timers.delete(id);
  waiting.value = waiting.value.filter((each) => each.id !== id);
  return id;
}

/** Sends all that waits, now. */
export function sendAll(leaving: boolean): void {
  for (const decision of waiting.value) carryOut(decision, leaving);
}

function carryOut(decision: Undoable, leaving: boolean): void {
  clearTimeout(timers.get(decision.id));
  timers.delete(decision.id);
  sent.value = new Set([...sent.value, decision.id]);
  waiting.value = waiting.value.filter(({ id }) => id !== decision.id);
  decision.send(leaving).catch((error: unknown) => {
    // It is open again: the list shows it, with the reason.
    sent.value = new Set([...sent.value].filter((id) => id !== decision.id));
    failed.value = { text: decision.text, error };
  });
}

/** Sends what waits when the page is left. */
export function followLeaving(): void {
  addEventListener('pagehide', () => sendAll(true));
}

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

import { signal } from '@preact/signals';
import type { LearningReply, ProposalView } from '../../contracts/replies/learning-reply.js';
import { ask } from '../ask.js';

/** A decision that can be undone: it is sent after `UNDO_MS`, or at once when the page is left. */
interface Undoable {
  /** Id of the proposal. */
  readonly id: string;
  /** The decision in a word, for people: `Accepted`. */
  readonly said: string;
  readonly text: string;
  /** `leaving`: the request must survive the end of the page. */
  readonly send: (leaving: boolean) => Promise<void>;
}

export const UNDO_MS = 10_000;

/** Decisions that are not sent yet, the newest last. `due` is in milliseconds of `Date.now()`. */
export const waiting = signal<readonly (Undoable & { readonly due: number; readonly batch: number })[]>([]);
/** Proposals whose decision was sent or is being sent: the queue hides them. */
export const sent = signal<ReadonlySet<string>>(new Set());
/** Why the last decision could not be sent. */
export const failed = signal<{ readonly text: string; readonly error: unknown } | undefined>(undefined);

const timers = new Map<string, ReturnType<typeof setTimeout>>();

let batches = 0;

/** Schedules decisions that are undone together, each in place of an earlier one on the same proposal. */
export function decide(...decisions: readonly Undoable[]): void {
  const ids = new Set(decisions.map(({ id }) => id));
  drop(({ id }) => ids.has(id));
  batches += 1;
  const [due, batch] = [Date.now() + UNDO_MS, batches];
  waiting.value = [...waiting.value, ...decisions.map((decision) => ({ ...decision, due, batch }))];
  for (const decision of decisions)
    timers.set(
      decision.id,
      setTimeout(() => carryOut(decision, false), UNDO_MS),
    );
}

/** Undoes the decision on a proposal, or the last ones. Returns the id of a proposal. */
export function takeBack(id?: string): string | undefined {
  const last = waiting.value.at(-1);
  return drop((each) => (id === undefined ? each.batch === last?.batch : each.id === id))[0]?.id;
}

function drop(which: (each: (typeof waiting.value)[number]) => boolean) {
  const dropped = waiting.value.filter(which);
  for (const { id } of dropped) {
    clearTimeout(timers.get(id));
    timers.delete(id);
  }
  if (dropped.length > 0) waiting.value = waiting.value.filter((each) => !dropped.includes(each));
  return dropped;
}

export function sendAll(leaving: boolean): void {
  for (const decision of waiting.value) carryOut(decision, leaving);
}

function carryOut(decision: Undoable, leaving: boolean): void {
  clearTimeout(timers.get(decision.id));
  timers.delete(decision.id);
  sent.value = new Set([...sent.value, decision.id]);
  waiting.value = waiting.value.filter(({ id }) => id !== decision.id);
  decision.send(leaving).catch((error: unknown) => {
    // The queue shows the proposal again.
    sent.value = new Set([...sent.value].filter((id) => id !== decision.id));
    failed.value = { text: decision.text, error };
  });
}

/** Sends all scheduled decisions when the page is left. */
export function followLeaving(): void {
  addEventListener('pagehide', () => sendAll(true));
}

export type PendingProposal = LearningReply<'proposal.list'>['proposals'][number];
export type ProposalVerdict = 'accept' | 'merge' | 'separate' | 'reject';

const SAID: Readonly<Record<ProposalVerdict, string>> = {
  accept: 'Accepted',
  merge: 'Merged',
  separate: 'Kept both',
  reject: 'Rejected',
};

/** Recorded on the learning as the one who decided. */
const BY = 'inspector';

/** Schedules decisions on proposals of one project. */
export function decideOn(
  project: string | undefined,
  ...decisions: readonly (readonly [proposal: PendingProposal, verdict: ProposalVerdict])[]
): void {
  decide(
    ...decisions.map(([{ id, content }, verdict]) => ({
      id,
      said: SAID[verdict],
      text: content,
      send: async (leaving: boolean) => {
        const of = project === undefined ? { id, by: BY } : { id, by: BY, project };
        const how = { outlivesPage: leaving };
        if (verdict === 'reject') await ask('proposal.reject', of, undefined, how);
        else {
          const kept = verdict === 'accept' ? of : { ...of, [verdict]: true };
          await ask('proposal.accept', kept, undefined, how);
        }
      },
    })),
  );
}

/** Returns how to accept a proposal: one that repeats a learning word for word can only be merged. */
export function acceptVerdict(similar: ProposalView['similar']): ProposalVerdict {
  if (similar === null) return 'accept';
  return similar.similarity >= 1 ? 'merge' : 'separate';
}

/** Origin of a proposal in words. */
export const METHODS: Readonly<Record<PendingProposal['method'], string>> = {
  note: 'a note of an agent',
  recurring_fix: 'a fix that reviews required repeatedly',
  recurring_issue: 'an issue that reviews raised repeatedly',
  convention: 'a convention that reviewers stated',
  manual: 'a person or an agent',
};

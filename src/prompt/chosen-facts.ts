import type { ConsideredFact } from '../contracts/replies/compile-reply.js';
import type { RankedFact, SessionFact } from '../facts/fact-types.js';
import type { SessionMemory } from './session-notes.js';

/** What became of the facts of a prompt: those it shows, and the best of those that it does not. */
export interface ChosenFacts {
  readonly shown: readonly { readonly fact: SessionFact; readonly score: number }[];
  readonly left: readonly LeftFact[];
}

interface LeftFact {
  readonly fact: SessionFact;
  readonly score: number;
  readonly why: NonNullable<ConsideredFact['left']>;
}

/** Told of the facts of a prompt that was compiled. */
export type TellFacts = (chosen: ChosenFacts) => void;

/** Facts left out that are told. */
const MOST_LEFT = 10;

/** Cheap, for every prompt: ids are made by the one that needs them. */
export function chosenFacts(
  { considered }: Pick<SessionMemory, 'considered'>,
  facts: readonly RankedFact[],
): ChosenFacts {
  const shown = new Set(facts.map(({ fact }) => fact));
  const left: LeftFact[] = [];
  for (const each of considered) {
    if (left.length === MOST_LEFT) break;
    if (shown.has(each.fact)) continue;
    left.push({ fact: each.fact, score: each.score, why: each.left ?? 'budget' });
  }
  return { shown: facts.map(({ fact, score }) => ({ fact, score })), left };
}

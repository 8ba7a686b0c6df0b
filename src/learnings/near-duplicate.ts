import { likeness, NEAR_DUPLICATE, sameText, type WordSet, wordSet } from './learning-text.js';
import type { Learning } from './learning-types.js';
import type { LearningState } from './learnings-state.js';

/** A learning that says nearly the same. */
export interface NearDuplicate {
  readonly learning: string;
  readonly content: string;
  /** 0.7 to 1; 1 for the same words. */
  readonly similarity: number;
}

/** A learning never changes: its words are found once. */
const words = new WeakMap<Learning, WordSet>();

function wordsOfLearning(learning: Learning): WordSet {
  const known = words.get(learning) ?? wordSet(learning.content);
  words.set(learning, known);
  return known;
}

/** The active learning that comes closest to a text, if one says nearly the same; `except` is left out. */
export function nearDuplicate(state: LearningState, text: string, except: string): NearDuplicate | undefined {
  let best: NearDuplicate | undefined;
  let closest = 0;
  const said = wordSet(text);
  for (const learning of state.active.values()) {
    const { id, content } = learning;
    if (id === except) continue;
    const alike = likeness(said, wordsOfLearning(learning));
    // The same words may stand in another order: the very text is closer still.
    const closer = alike > closest || (alike === 1 && sameText(text, content));
    if (alike < NEAR_DUPLICATE || !closer) continue;
    closest = alike;
    best = { learning: id, content, similarity: Math.round(alike * 100) / 100 };
  }
  return best;
}

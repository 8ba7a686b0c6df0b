import type { Learning, RankedLearning } from './learning-types.js';

/** Brings the score first, of equal scores the one confirmed last, then the lower id: one order, whatever came first. */
function comesBefore(a: RankedLearning, b: RankedLearning): boolean {
  if (a.score !== b.score) return a.score > b.score;
  if (a.learning.confirmedAt !== b.learning.confirmedAt)
    return a.learning.confirmedAt > b.learning.confirmedAt;
  return a.learning.id < b.learning.id;
}

/** The best few of many, kept in order while they are added: the many need not be sorted. */
export class BestLearnings {
  readonly #max: number;
  readonly #best: RankedLearning[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(learning: Learning, score: number): void {
    const last = this.#best.at(-1);
    const full = this.#best.length >= this.#max;
    // Most do not beat the worst that is kept: those cost one comparison.
    if (full && (last === undefined || score < last.score)) return;
    const ranked = { learning, score };
    let place = this.#best.length;
    for (let before = this.#best[place - 1]; before !== undefined; before = this.#best[place - 1]) {
      if (!comesBefore(ranked, before)) break;
      place -= 1;
    }
    if (place >= this.#max) return;
    this.#best.splice(place, 0, ranked);
    if (full) this.#best.pop();
  }

  /** Best first. */
  get ranked(): RankedLearning[] {
    return [...this.#best];
  }
}

/** The learnings confirmed last, newest first, with score 0. */
export function mostRecent(learnings: ReadonlyMap<string, Learning>, maxResults: number): RankedLearning[] {
  const best = new BestLearnings(maxResults);
  for (const learning of learnings.values()) best.add(learning, 0);
  return best.ranked;
}

/** What an index does when a learning is added or removed. */
export interface LearningChanges {
  added(learning: Learning): void;
  removed(learning: Learning): void;
}

/**
 * Brings `known` in step with `current`, and reports each change. A changed learning is another object: it is
 * removed as it was and added as it is.
 */
export function follow(
  known: Map<string, Learning>,
  current: ReadonlyMap<string, Learning>,
  changes: LearningChanges,
): void {
  for (const [id, learning] of current) {
    const before = known.get(id);
    if (before === learning) continue;
    if (before !== undefined) changes.removed(before);
    known.set(id, learning);
    changes.added(learning);
  }
  if (known.size === current.size) return;
  for (const [id, learning] of known) {
    if (current.has(id)) continue;
    known.delete(id);
    changes.removed(learning);
  }
}

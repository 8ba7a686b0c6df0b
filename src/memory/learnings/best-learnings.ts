import { type Refusal, refuse } from '../../contracts/event.js';
import type { Learning, RankedLearning } from './learnings-state.js';

/** Orders by score, then by the latest confirmation, then by id: independent of the input order. */
function comesBefore(a: RankedLearning, b: RankedLearning): boolean {
  if (a.score !== b.score) return a.score > b.score;
  if (a.learning.confirmedAt !== b.learning.confirmedAt)
    return a.learning.confirmedAt > b.learning.confirmedAt;
  return a.learning.id < b.learning.id;
}

/** Keeps the best few in order, so that the rest need not be sorted. */
export class BestLearnings {
  readonly #max: number;
  readonly #best: RankedLearning[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(learning: Learning, score: number): void {
    const last = this.#best.at(-1);
    const full = this.#best.length >= this.#max;
    // One comparison rejects most candidates.
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

/** Returns the latest confirmed learnings, newest first, with score 0. */
export function mostRecent(learnings: ReadonlyMap<string, Learning>, maxResults: number): RankedLearning[] {
  const best = new BestLearnings(maxResults);
  for (const learning of learnings.values()) best.add(learning, 0);
  return best.ranked;
}

/** Ranks that count in each list. Constant, so that the best three of five are the best three of ten. */
export const FUSED_DEPTH = 100;

/**
 * Fuses two rankings: the mean of 1/rank by words and 1/rank by meaning, with 0 for a missing one.
 *
 * Cosines and shares of words are not comparable, ranks are. The usual constant of rank fusion, 60, is for lists of
 * thousands: in a short list it ranks anything in both lists above the first of either. Without it, the best of one
 * list, such as a learning without a vector yet, is among the first three.
 */
export function fused(
  byWords: readonly RankedLearning[],
  byMeaning: readonly RankedLearning[],
  maxResults: number,
): RankedLearning[] {
  const scores = new Map<Learning, number>();
  for (const list of [byWords, byMeaning]) {
    for (const [index, { learning }] of list.entries()) {
      scores.set(learning, (scores.get(learning) ?? 0) + 0.5 / (index + 1));
    }
  }
  const best = new BestLearnings(maxResults);
  for (const [learning, score] of scores) best.add(learning, score);
  const cosines = new Map(byMeaning.map(({ learning, score }) => [learning, score]));
  return best.ranked.map((ranked) => {
    const similarity = cosines.get(ranked.learning);
    return similarity === undefined ? ranked : { ...ranked, similarity };
  });
}

/**
 * Returns a page of matching items after the cursor's item, which need not match any more: changes between two pages
 * neither repeat nor skip other items. `next` is the cursor of the next page, `total` the size of the whole list.
 */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  fits: (item: Item) => boolean = () => true,
): { readonly items: readonly Item[]; readonly next?: string; readonly total: number } | Refusal {
  const at = cursor === undefined ? -1 : items.findIndex(({ id }) => id === cursor);
  if (cursor !== undefined && at < 0) {
    return refuse(
      'not_found',
      `cursor: ${JSON.stringify(cursor)} is no longer in the list: start again with the first page`,
    );
  }
  const rest = items.slice(at + 1).filter(fits);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page,
    total: items.filter(fits).length,
    ...(last !== undefined && rest.length > limit && { next: last.id }),
  };
}

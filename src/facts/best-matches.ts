import type { Match } from './fact-types.js';

/** Keeps the best of many matches in order, without sorting the others. */
export class BestMatches {
  readonly matches: Match[] = [];
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  /** How many hits a match of this dispatch, or of an older one, needs at least to get in. */
  hitsNeeded(sourceSequence: number): number {
    const worst = this.matches[this.#count - 1];
    if (worst === undefined) return 0;
    return sourceSequence < worst.fact.sourceSequence ? worst.hits + 1 : worst.hits;
  }

  offer(match: Match): void {
    const { matches } = this;
    let at = matches.length;
    for (
      let before = matches[at - 1];
      before !== undefined && compare(match, before) < 0;
      before = matches[at - 1]
    ) {
      at -= 1;
    }
    if (at >= this.#count) return;
    matches.splice(at, 0, match);
    if (matches.length > this.#count) matches.pop();
  }
}

/** Most hits first, then the newest dispatch, and within one dispatch as its rules gave them. */
function compare(a: Match, b: Match): number {
  return b.hits - a.hits || b.fact.sourceSequence - a.fact.sourceSequence || a.order - b.order;
}

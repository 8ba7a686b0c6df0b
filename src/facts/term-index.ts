import { BestMatches } from './best-matches.js';
import { words } from './tokenize.js';
import type { Match, SessionFact } from './types.js';

/**
 * Facts by the words that they hold. A question costs as much as there are facts with one of its words, however many
 * others there are.
 *
 * Each fact has a slot, and each word a list of slots in which they only rise; hits are counted in one array of
 * numbers. A fact that is removed leaves its slot empty until half of them are: then everything is filed anew.
 */
export class TermIndex {
  #facts: (SessionFact | undefined)[] = [];
  #slots = new Map<SessionFact, number>();
  #byWord = new Map<string, number[]>();
  #hits = new Uint16Array(64);

  add(fact: SessionFact): void {
    const slot = this.#facts.push(fact) - 1;
    this.#slots.set(fact, slot);
    if (slot === this.#hits.length) this.#hits = new Uint16Array(slot * 2);
    for (const word of words(`${fact.subject} ${fact.relation} ${fact.object}`)) {
      const slots = this.#byWord.get(word);
      if (slots === undefined) this.#byWord.set(word, [slot]);
      else slots.push(slot);
    }
  }

  remove(fact: SessionFact): void {
    const slot = this.#slots.get(fact);
    if (slot === undefined) return;
    this.#slots.delete(fact);
    this.#facts[slot] = undefined;
    if (this.#facts.length > 64 && this.#slots.size < this.#facts.length / 2) this.#fileAnew();
  }

  /** The `count` best of the wanted facts that hold at least one of the words, best first. */
  best(asked: Iterable<string>, count: number, isWanted: (fact: SessionFact) => boolean): Match[] {
    const hits = this.#hits;
    const found: number[] = [];
    for (const word of asked) {
      for (const slot of this.#byWord.get(word) ?? []) {
        const before = hits[slot] ?? 0;
        if (before === 0) found.push(slot);
        hits[slot] = before + 1;
      }
    }
    const best = new BestMatches(count);
    // From the newest on: where hits are equal, what comes later does not get in.
    for (let at = found.length - 1; at >= 0; at -= 1) {
      const order = found[at] ?? 0;
      const held = hits[order] ?? 0;
      hits[order] = 0;
      if (!best.mayTake(held)) continue;
      const fact = this.#facts[order];
      if (fact !== undefined && isWanted(fact)) best.offer({ fact, order, hits: held });
    }
    return best.matches;
  }

  #fileAnew(): void {
    const facts = this.#facts;
    this.#facts = [];
    this.#slots = new Map();
    this.#byWord = new Map();
    for (const fact of facts) if (fact !== undefined) this.add(fact);
  }
}

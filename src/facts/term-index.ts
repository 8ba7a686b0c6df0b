import { BLOCK } from '../search/hit-counts.js';
import { Postings } from '../search/postings.js';
import { words } from '../search/tokenize.js';
import { BestMatches, LEAST_URGENT, urgencyOf } from './best-matches.js';
import type { FactSelection, Match, SessionFact } from './fact-types.js';

/**
 * Facts by the words that they hold, their tags and their task.
 *
 * Each fact has a slot, and 32 slots make a block. A question counts its words for a block at a time, and looks only
 * at facts that may be among the best. A fact that is removed leaves its slot empty until half of them are: then
 * the index is rebuilt.
 */
export class TermIndex {
  #facts: (SessionFact | undefined)[] = [];
  #slots = new Map<SessionFact, number>();
  #words = new Postings();
  #tags = new Postings();
  #tasks = new Postings();
  /** By block: the newest dispatch that a fact of it has come from. */
  #newest: number[] = [];
  /** By block: the urgency of its most urgent fact. */
  #urgency: number[] = [];

  add(fact: SessionFact): void {
    const slot = this.#facts.push(fact) - 1;
    this.#slots.set(fact, slot);
    const block = Math.floor(slot / BLOCK);
    this.#newest[block] = Math.max(this.#newest[block] ?? 0, fact.sourceSequence);
    this.#urgency[block] = Math.min(this.#urgency[block] ?? LEAST_URGENT, urgencyOf(fact));
    for (const word of words(`${fact.subject} ${fact.relation} ${fact.object}`)) this.#words.add(word, slot);
    for (const tag of fact.tags) this.#tags.add(tag, slot);
    this.#tasks.add(fact.sourceTaskId, slot);
  }

  remove(fact: SessionFact): void {
    const slot = this.#slots.get(fact);
    if (slot === undefined) return;
    this.#slots.delete(fact);
    this.#facts[slot] = undefined;
    if (this.#facts.length > 64 && this.#slots.size < this.#facts.length / 2) this.#fileAgain();
  }

  /** What `ISessionFactStore.best` gives. */
  best(asked: Iterable<string>, { taskId, tags, maxFacts }: FactSelection): Match[] {
    if (maxFacts === 0) return [];
    const best = new BestMatches(maxFacts);
    const blocks = this.#newest.length;
    const words = this.#words.count(asked, blocks);
    const own = this.#tasks.count([taskId], blocks);
    const tagged = tags && this.#tags.count(tags, blocks);
    // From the newest on: once enough are found, only few of the older ones may still get in.
    for (let block = blocks - 1; block >= 0; block -= 1) {
      const needed = best.hitsNeeded(this.#urgency[block] ?? LEAST_URGENT, this.#newest[block] ?? 0);
      let left = words.atLeast(block, needed) & ~own.atLeast(block, 1);
      if (tagged) left &= tagged.atLeast(block, 1);
      while (left !== 0) {
        const slot = BLOCK - 1 - Math.clz32(left);
        left ^= 1 << slot;
        const order = block * BLOCK + slot;
        const fact = this.#facts[order];
        if (fact !== undefined) best.offer({ fact, order, hits: words.of(block, slot) });
      }
    }
    return best.matches;
  }

  #fileAgain(): void {
    const facts = this.#facts;
    this.#facts = [];
    this.#slots = new Map();
    this.#words = new Postings();
    this.#tags = new Postings();
    this.#tasks = new Postings();
    this.#newest = [];
    this.#urgency = [];
    for (const fact of facts) if (fact !== undefined) this.add(fact);
  }
}

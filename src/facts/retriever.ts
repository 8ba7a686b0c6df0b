import { words } from './tokenize.js';
import type { FactQuery, IFactRetriever, ISessionFactStore, RankedFact, SessionFact } from './types.js';

/** Facts are immutable, so their words are found once and kept for as long as the fact itself. */
const wordsOfFact = new WeakMap<SessionFact, ReadonlySet<string>>();

/**
 * Ranks facts by the share of the query's words that they hold; equal scores go by recency, newest dispatch first,
 * and within one dispatch in the order in which its rules gave them.
 */
export class KeywordFactRetriever implements IFactRetriever {
  readonly #store: ISessionFactStore;

  constructor(store: ISessionFactStore) {
    this.#store = store;
  }

  retrieve(query: FactQuery): SessionFact[] {
    return this.rank(query).map(({ fact }) => fact);
  }

  rank(query: FactQuery): RankedFact[] {
    const candidates = query.tags ? this.#store.getValidByTags(query.tags) : this.#store.getValid();
    const asked = words(query.taskDescription);
    const ranked = candidates
      .filter((fact) => fact.sourceTaskId !== query.taskId)
      .map((fact) => ({ fact, score: overlap(asked, cachedWords(fact)), tokens: tokensOf(fact) }))
      // sort() is stable: facts of one dispatch keep their order.
      .sort((a, b) => b.score - a.score || b.fact.sourceSequence - a.fact.sourceSequence);
    return withinBudget(ranked.slice(0, Math.max(0, query.maxFacts)), query.maxTokens);
  }
}

/** Tokens of a fact's words, at four characters each. */
export function tokensOf(fact: Pick<SessionFact, 'subject' | 'relation' | 'object'>): number {
  return Math.ceil((fact.subject.length + fact.relation.length + fact.object.length) / 4);
}

function cachedWords(fact: SessionFact): ReadonlySet<string> {
  const known = wordsOfFact.get(fact);
  if (known !== undefined) return known;
  const found = words(`${fact.subject} ${fact.relation} ${fact.object}`);
  wordsOfFact.set(fact, found);
  return found;
}

function overlap(asked: ReadonlySet<string>, held: ReadonlySet<string>): number {
  if (asked.size === 0) return 0;
  let matching = 0;
  for (const word of asked) if (held.has(word)) matching += 1;
  return matching / asked.size;
}

function withinBudget(ranked: readonly RankedFact[], maxTokens: number): RankedFact[] {
  const kept: RankedFact[] = [];
  let spent = 0;
  for (const entry of ranked) {
    spent += entry.tokens;
    if (spent > maxTokens) break;
    kept.push(entry);
  }
  return kept;
}

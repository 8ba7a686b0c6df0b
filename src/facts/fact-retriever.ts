import { words } from '../search/tokenize.js';
import type { FactQuery, IFactRetriever, ISessionFactStore, RankedFact, SessionFact } from './fact-types.js';

/**
 * Ranks facts by the share of the query's words that they hold. Equal scores go by severity, critical findings before
 * important ones, then what is said in words before verdicts and modified files, then by recency, newest dispatch first, and within one dispatch in the order
 * in which its rules gave them.
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
    const asked = words(query.taskDescription);
    const ranked = this.#store.best(asked, query).map(({ fact, hits }) => ({
      fact,
      score: asked.size === 0 ? 0 : hits / asked.size,
      tokens: tokensOf(fact),
    }));
    return withinBudget(ranked, query.maxTokens);
  }
}

/** Tokens of a fact's words, at four characters each. */
export function tokensOf(fact: Pick<SessionFact, 'subject' | 'relation' | 'object'>): number {
  return Math.ceil((fact.subject.length + fact.relation.length + fact.object.length) / 4);
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

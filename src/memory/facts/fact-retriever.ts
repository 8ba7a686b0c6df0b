import { rankFacts } from './fact-ranking.js';
import type { ISessionFactStore } from './fact-store.js';
import type { FactQuery, IFactRetriever, RankedFact, SessionFact } from './fact-types.js';

const NONE: ReadonlyMap<string, number> = new Map();

/** Selects facts by shared words alone, then by recency: `rankFacts` without files and past results. */
export class KeywordFactRetriever implements IFactRetriever {
  readonly #store: ISessionFactStore;

  constructor(store: ISessionFactStore) {
    this.#store = store;
  }

  retrieve(query: FactQuery): SessionFact[] {
    return this.rank(query).map(({ fact }) => fact);
  }

  rank({ taskDescription: text, maxTokens, ...query }: FactQuery): RankedFact[] {
    const ranking = rankFacts(this.#store, { ...query, byRecency: true, text, files: [], similar: NONE });
    return withinBudget([...ranking.chosen, ...ranking.rest], maxTokens);
  }
}

/** Returns the best facts within the budget. */
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

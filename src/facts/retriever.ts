import { BestMatches } from './best-matches.js';
import { words } from './tokenize.js';
import type {
  FactQuery,
  IFactRetriever,
  ISessionFactStore,
  Match,
  RankedFact,
  SessionFact,
} from './types.js';

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
    const { taskDescription, taskId, tags, maxFacts, maxTokens } = query;
    const asked = words(taskDescription);
    const isWanted = (fact: SessionFact) =>
      fact.sourceTaskId !== taskId && (tags === undefined || fact.tags.some((tag) => tags.includes(tag)));
    const matching = this.#store.best(asked, maxFacts, isWanted);
    const best =
      matching.length < maxFacts ? [...matching, ...this.#newest(matching, query, isWanted)] : matching;
    const ranked = best.map(({ fact, hits }) => ({
      fact,
      score: asked.size === 0 ? 0 : hits / asked.size,
      tokens: tokensOf(fact),
    }));
    return withinBudget(ranked, maxTokens);
  }

  /** The newest facts of those that hold none of the words, for the places that are left. */
  #newest(
    matching: readonly Match[],
    { maxFacts }: FactQuery,
    isWanted: (fact: SessionFact) => boolean,
  ): Match[] {
    const known = new Set(matching.map(({ fact }) => fact));
    const newest = new BestMatches(maxFacts - matching.length);
    for (const [order, fact] of this.#store.getValid().entries()) {
      if (!known.has(fact) && isWanted(fact)) newest.offer({ fact, order, hits: 0 });
    }
    return newest.matches;
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

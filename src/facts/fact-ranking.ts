// Stand-in until the ranking of w-facts is merged: this signature is agreed.
import { KeywordFactRetriever } from './fact-retriever.js';
import type { InMemorySessionFactStore } from './fact-store.js';
import type { SessionFact, SessionFactTag } from './fact-types.js';
export type FactGroup =
  | 'findings'
  | 'conventions'
  | 'decisions'
  | 'tests'
  | 'requirements'
  | 'work'
  | 'files'
  | 'facts';
export interface FactsAsked {
  readonly text: string;
  readonly taskId: string;
  readonly tags?: readonly SessionFactTag[] | undefined;
  readonly maxFacts: number;
  readonly fill?: 'relevant' | 'recent' | undefined;
  readonly files: readonly string[];
  readonly similar: ReadonlyMap<string, number>;
}
export interface RankedFact {
  readonly fact: SessionFact;
  readonly group: FactGroup;
  readonly score: number;
  readonly tokens: number;
  readonly matched: readonly string[];
}
export interface ConsideredFact extends RankedFact {
  readonly because: 'words' | 'file' | 'similar' | 'recent';
  readonly left?: 'rank' | 'near-duplicate' | 'one task' | undefined;
  readonly duplicateOf?: string;
}
export interface FactRanking {
  readonly chosen: readonly RankedFact[];
  readonly considered: readonly ConsideredFact[];
  readonly total: number;
}
export function rankFacts(store: InMemorySessionFactStore, asked: FactsAsked): FactRanking {
  const ranked = new KeywordFactRetriever(store).rank({
    ...asked,
    taskDescription: asked.text,
    maxTokens: 1e6,
  });
  const groupOf = (f: SessionFact): FactGroup =>
    f.relation === 'must_fix' || f.relation === 'issue'
      ? 'findings'
      : f.relation === 'convention'
        ? 'conventions'
        : f.relation.endsWith('summary')
          ? 'work'
          : f.relation === 'modified_by'
            ? 'files'
            : f.relation === 'requires'
              ? 'requirements'
              : f.relation === 'test_result'
                ? 'tests'
                : 'facts';
  const chosen = ranked.map((each) => ({ ...each, group: groupOf(each.fact), matched: [] }));
  return {
    chosen,
    considered: chosen.map((each) => ({ ...each, because: 'words' as const })),
    total: chosen.length,
  };
}

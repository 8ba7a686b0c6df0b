import type { Considered, ConsideredFact, ConsideredFile } from '../contracts/replies/compile-reply.js';
import type { RankedFact, WeighedFact } from '../facts/fact-types.js';
import type { LikelyFile } from '../search/likely-files.js';
import { explained } from './described-facts.js';
import { CONSIDERED, type SessionMemory } from './session-notes.js';

/** The part of a reply that says what was considered, and why it is shown or not. */
export function describeConsidered(
  { considered, candidates, files }: SessionMemory,
  facts: readonly RankedFact[],
  filesShown: readonly LikelyFile[],
): { readonly considered: Considered } {
  const shownFacts = new Set(facts.map(({ fact }) => fact));
  const likely = new Set(files.map(({ path }) => path));
  const fact = (each: WeighedFact): ConsideredFact => {
    const isShown = shownFacts.has(each.fact);
    return {
      ...explained(each),
      shown: isShown,
      kind: each.group,
      because: each.because,
      words: each.matched,
      ...(!isShown && { left: each.left ?? ('budget' as const) }),
      ...(!isShown && each.duplicateOf !== undefined && { duplicateOf: each.duplicateOf }),
    };
  };
  const shownPaths = new Set(filesShown.map(({ path }) => path));
  const file = ({ reasons = {}, score, ...each }: LikelyFile): ConsideredFile => {
    const isShown = shownPaths.has(each.path);
    const left = likely.has(each.path) ? 'budget' : 'rank';
    return {
      ...each,
      score: Math.round(score * 1000) / 1000,
      shown: isShown,
      reasons,
      ...(!isShown && { left }),
    };
  };
  return { considered: { facts: considered.slice(0, CONSIDERED).map(fact), files: candidates.map(file) } };
}

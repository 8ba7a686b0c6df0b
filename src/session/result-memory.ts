import type { OutcomeDigest } from '../ledger/outcome-digest.js';
import { knownAs } from '../search/known-path.js';
import type { PastResult } from '../search/past-results.js';
import { tokens } from '../search/tokens.js';

/** Distinct words of a result that are remembered: a summary has ten, a review some more. */
const MAX_TOKENS = 48;

/** A digest never changes, and is folded again whenever an older dispatch comes late: its words are found once. */
const found = new WeakMap<OutcomeDigest, Pick<PastResult, 'tokens' | 'files'>>();

/** What is remembered of a result beyond its facts: what it says, and the files that it touched or that it demands changes in. */
export function pastResultOf(
  { sequence, task }: Pick<PastResult, 'sequence' | 'task'>,
  digest: OutcomeDigest,
): PastResult {
  const known = found.get(digest) ?? wordsAndFiles(digest);
  found.set(digest, known);
  return { sequence, task, ...known };
}

function wordsAndFiles({
  summary = '',
  files,
  issues,
  fixes,
}: OutcomeDigest): Pick<PastResult, 'tokens' | 'files'> {
  const named = [...files, ...issues.flatMap(({ file }) => file ?? [])].map(knownAs);
  const texts = [summary, ...issues.map(({ message }) => message), ...fixes];
  return {
    tokens: tokens(texts.filter((text) => text !== '').join('\n'), MAX_TOKENS),
    files: [...new Set(named)].filter((file) => file !== '' && !file.endsWith('...')),
  };
}

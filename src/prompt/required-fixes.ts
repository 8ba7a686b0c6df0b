import type { DigestIssue } from '../ledger/outcome-digest.js';
import { tokens } from '../search/tokens.js';

/** Share of the words of a required fix that an issue must say as well to be what the fix is about. */
const ENOUGH = 0.6;

/**
 * Each required fix with the file and the suggested fix of the issue that it is about, where the same review has one:
 * `name the field (src/a.ts; fix: throw with the name)`. A fix without such an issue stays as it is.
 */
export function locatedFixes(fixes: readonly string[], issues: readonly DigestIssue[]): string[] {
  return fixes.map((text) => {
    const issue = issueOf(text, issues);
    if (issue === undefined) return text;
    const { file, fix } = issue;
    const more = [
      ...(file === undefined || text.includes(file) ? [] : [file]),
      ...(fix === undefined || text.includes(fix) ? [] : [`fix: ${fix}`]),
    ];
    return more.length === 0 ? text : `${text} (${more.join('; ')})`;
  });
}

/** The issue that says most of a text's words, if it says enough of them; of equal ones the first. */
function issueOf(text: string, issues: readonly DigestIssue[]): DigestIssue | undefined {
  const asked = tokens(`/${text}`);
  let best: DigestIssue | undefined;
  let most = Math.max(2, Math.ceil(ENOUGH * asked.length)) - 1;
  for (const issue of issues) {
    const said = new Set(tokens(`/${issue.file ?? ''} ${issue.message} ${issue.fix ?? ''}`));
    const shared = asked.filter((word) => said.has(word)).length;
    // "Case 7" and "case 8" are two matters, however many words they share.
    if (shared <= most || asked.some((word) => /\d/.test(word) && !said.has(word))) continue;
    best = issue;
    most = shared;
  }
  return best;
}

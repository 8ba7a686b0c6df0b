import type { DigestIssue } from '../ledger/outcome-digest.js';
import { tokens } from '../search/tokens.js';
import { oneSpelling } from '../shared/distinct-texts.js';

/** Share of the words of a required fix that an issue must say as well to be what the fix is about. */
const ENOUGH = 0.6;

/** A required fix beside the issue that it is about, where the same review has one. */
export interface LocatedFix {
  /** With what the issue adds to it: `name the field (src/a.ts; fix: throw with the name)`. */
  readonly text: string;
  /** The issue of which nothing is left to say: the text is its message, and names its severity, file and suggested fix. */
  readonly said?: DigestIssue;
}

/** Each required fix with the file and the suggested fix of its issue; of an issue in the same words its severity too. */
export function locatedFixes(fixes: readonly string[], issues: readonly DigestIssue[]): LocatedFix[] {
  return fixes.map((text) => {
    const spelling = oneSpelling(text);
    const same = issues.find(({ message }) => oneSpelling(message) === spelling);
    if (same !== undefined) {
      const { severity, file, fix } = same;
      const suggested = fix === undefined || oneSpelling(fix) === spelling ? [] : [`fix: ${fix}`];
      return {
        text: beside(text, [severity, ...(file === undefined ? [] : [file]), ...suggested]),
        said: same,
      };
    }
    const { file, fix } = issueOf(text, issues) ?? {};
    return {
      text: beside(text, [
        ...(file === undefined || text.includes(file) ? [] : [file]),
        ...(fix === undefined || text.includes(fix) ? [] : [`fix: ${fix}`]),
      ]),
    };
  });
}

function beside(text: string, more: readonly string[]): string {
  return more.length === 0 ? text : `${text} (${more.join('; ')})`;
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

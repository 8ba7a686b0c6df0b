import { jsonrepair } from 'jsonrepair';

/**
 * Repairs invalid JSON: trailing commas, comments, single and curly quotes, Python's words, line breaks in strings,
 * truncation.
 */

/**
 * `jsonrepair` is quadratic for some texts. Within these limits the worst takes about 50 ms: length, characters at
 * which it may insert something, and nesting.
 */
export const MENDED = { characters: 32 * 1024, signs: 3072, depth: 64 } as const;

const SIGNS = /["'`´“”‘’/\n\r[{(+]|\d\s/g;
/** A backslash that is not a JSON escape, which the library would drop. */
const ESCAPE = /\\(?:["'`\\/bfnrt]|u[\da-f]{4})|\\/gi;

/** Returns the repaired text, or the reason why there is none. */
export function mendedJson(text: string): { readonly json: string } | { readonly reason: string } {
  if (text.length > MENDED.characters) return { reason: tooMuch(`${MENDED.characters} characters`) };
  if ((text.match(SIGNS) ?? []).length > MENDED.signs)
    return { reason: tooMuch(`${MENDED.signs} quotes and brackets`) };
  if (depthOf(text) > MENDED.depth) return { reason: tooMuch(`${MENDED.depth} brackets within each other`) };
  try {
    return { json: jsonrepair(text.replace(ESCAPE, (found) => (found.length > 1 ? found : '\\\\'))) };
  } catch {
    return { reason: 'it could not be mended' };
  }
}

function tooMuch(limit: string): string {
  return `only texts of at most ${limit} are mended`;
}

/** Returns the deepest nesting of brackets, including those in strings. */
function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '{' || sign === '[' || sign === '(') {
      depth += 1;
      most = Math.max(most, depth);
    } else if (sign === '}' || sign === ']' || sign === ')') depth -= 1;
  }
  return most;
}

import { jsonrepair } from 'jsonrepair';

/**
 * Mends JSON that does not parse: trailing commas, comments, single and curly quotes, Python's words, line breaks in
 * texts, a cut-off end.
 */

/**
 * The library takes the square of a text's length for some texts. Within these bounds the worst takes some 50 ms: length,
 * signs at which it may insert something, and brackets within each other.
 */
export const MENDED = { characters: 32 * 1024, signs: 3072, depth: 64 } as const;

const SIGNS = /["'`´“”‘’/\n\r[{(+]|\d\s/g;
/** A backslash that begins no escape of JSON: the library would drop it. */
const ESCAPE = /\\(?:["'`\\/bfnrt]|u[\da-f]{4})|\\/gi;

/** The mended text, or why there is none. */
export function mendedJson(text: string): { readonly json: string } | { readonly reason: string } {
  if (text.length > MENDED.characters) return { reason: tooMuch(`${MENDED.characters} characters`) };
  if ((text.match(SIGNS) ?? []).length > MENDED.signs)
    return { reason: tooMuch(`${MENDED.signs} quotes and brackets`) };
  if (depthOf(text) > MENDED.depth) return { reason: tooMuch(`${MENDED.depth} brackets within each other`) };
  try {
    return { json: jsonrepair(text.replace(ESCAPE, (found) => (found.length > 1 ? found : '\\\\'))) };
  } catch {
    // Also where it runs out of stack.
    return { reason: 'it could not be mended' };
  }
}

function tooMuch(limit: string): string {
  return `only texts of at most ${limit} are mended`;
}

/** The most brackets that are open at a time, those in texts too. */
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

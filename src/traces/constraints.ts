import { clipText, quoted } from '../shared/text.js';

/** The sentences of a request that say what must be, what must never be, and what alone may be. */

const CONSTRAINT = /\b(must|never|always|only|do not|don['’]t)\b|必须|不得|禁止|必ず/i;
const CODE = /^ {0,3}(```|~~~)[\s\S]*?(^ {0,3}\1|$(?![\s\S]))/gm;
/** An empty line, or a line that begins an item or a heading. */
const PARAGRAPH = /\n\s*\n|\n(?=\s*(?:[-*+#>]|\d+[.)]|[A-Z][A-Z ]+:)\s)/;
const SENTENCE = /(?<=[.!?]["')]?)\s+(?=\S)|(?<=[。！？])/;
const MARK = /^\s*(?:[-*+#>]+|\d+[.)])\s+/;

/** Most constraints of one request, and characters of each. */
export const MAX_CONSTRAINTS = 30;
const MAX_CONSTRAINT = 240;

/**
 * Each constraint of a text once, as one line, in the order of the text.
 *
 * @returns more than `MAX_CONSTRAINTS` are cut, and `leftOut` says how many
 */
export function constraintsOf(text: string): { readonly texts: readonly string[]; readonly leftOut: number } {
  const sentences = text
    .replaceAll('\r', '')
    .replace(CODE, '\n\n')
    .split(PARAGRAPH)
    .flatMap((paragraph) => paragraph.replace(MARK, '').split(SENTENCE))
    .filter((sentence) => CONSTRAINT.test(sentence))
    .map((sentence) => clipText(quoted(sentence), MAX_CONSTRAINT));
  const all = [...new Set(sentences)].filter((sentence) => sentence !== '');
  return { texts: all.slice(0, MAX_CONSTRAINTS), leftOut: Math.max(0, all.length - MAX_CONSTRAINTS) };
}

import { clipText, quoted } from '../shared/text.js';

/** The sentences of a request that say what must be, what must never be, and what alone may be. */

const CONSTRAINT = /\b(must|never|always|only|do not|don['’]t)\b|必须|不得|禁止|必ず/i;
const CODE = /^ {0,3}(```|~~~)[\s\S]*?(^ {0,3}\1|$(?![\s\S]))/gm;
/** A line that begins an item or a heading. */
const BEGINNING = /^\s*(?:[-*+#>]|\d+[.)]|[A-Z][A-Z ]+:)\s/;
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
    .split('\n')
    .reduce(intoParagraphs, [''])
    .flatMap((paragraph) => paragraph.replace(MARK, '').split(SENTENCE))
    .filter((sentence) => CONSTRAINT.test(sentence))
    .map((sentence) => clipText(quoted(sentence), MAX_CONSTRAINT));
  const all = [...new Set(sentences)].filter((sentence) => sentence !== '');
  return { texts: all.slice(0, MAX_CONSTRAINTS), leftOut: Math.max(0, all.length - MAX_CONSTRAINTS) };
}

/** Lines that belong together in one text: an empty line ends it, and an item begins a new one. */
function intoParagraphs(paragraphs: string[], line: string): string[] {
  if (line.trim() === '' || BEGINNING.test(line)) paragraphs.push(line);
  else paragraphs.push(`${paragraphs.pop()} ${line}`);
  return paragraphs;
}

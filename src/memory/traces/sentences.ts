/** A block of code. */
const CODE = /^ {0,3}(```|~~~)[\s\S]*?(^ {0,3}\1|$(?![\s\S]))/gm;
/** A line that begins an item, a heading or a row of a table. */
const BEGINNING = /^\s*(?:[-*+#>|]|\d+[.)]|[A-Z][A-Z ]+:)\s/;
const SENTENCE = /(?<=[.!?]["')*_]{0,3})\s+(?=\S)|(?<=[。！？])/;
const MARK = /^\s*(?:[-*+#>]+|\d+[.)])\s+/;

/** A paragraph, an item or a heading of a text in Markdown, as one line without its mark. */
export interface Paragraph {
  readonly text: string;
  readonly kind: 'text' | 'item' | 'heading' | 'row';
}

/** The paragraphs of a text in their order, without code. */
export function paragraphsOf(text: string): Paragraph[] {
  return text
    .replaceAll('\r', '')
    .replace(CODE, '\n\n')
    .split('\n')
    .reduce(intoParagraphs, [''])
    .filter((line) => line.trim() !== '' && !RULE.test(line))
    .map((line) => ({ text: line.replace(MARK, '').trim(), kind: kindOfLine(line) }));
}

const RULE = /^\s*[-=*_]{3,}\s*$/;

function kindOfLine(line: string): Paragraph['kind'] {
  if (/^\s*#/.test(line)) return 'heading';
  if (/^\s*\|/.test(line)) return 'row';
  return MARK.test(line) ? 'item' : 'text';
}

/** The sentences of one paragraph. */
export function sentencesOf(paragraph: string): string[] {
  return paragraph.split(SENTENCE).filter((sentence) => sentence.trim() !== '');
}

const DECIDES =
  /\b(?:(?:I|we)(?:['’]ve| have)? (?:decided|chose|chosen|opted|settled on|went with|picked|deliberately|intentionally)|decided (?:to|on|against|not)|from now on|by convention)\b/i;
/** A choice that is given a reason. */
const CHOOSES = /\b(?:I|we) (?:keep|kept|left|store|used?|made|prefer)\b/i;
const REASON = /\b(?:because|since|instead of|rather than)\b/i;
/** Says how something is done and why, or what is not done: "Sessions are kept in redis because writes dominate". */
const STATES =
  /^(?!(?:it|this|that|these|those|there|if|when|while|as|so|but|and)\b)(?:(?!that|which|where|if|when)[\w./-]+ ){1,5}(?:is|are) (?:always |now |only )?(?:built|cached|checked|encoded|generated|handled|hashed|held|kept|loaded|made|named|parsed|passed|ranked|read|resized|returned|rounded|run|saved|sent|served|sorted|stored|taken|used|validated|versioned|written)\b.*(?:\b(?:because|instead of|rather than|so that)\b|, not )/is;

/** True for a sentence that says what was decided; one that only says what was done is none. */
export function decides(sentence: string): boolean {
  return DECIDES.test(sentence) || (CHOOSES.test(sentence) && REASON.test(sentence)) || STATES.test(sentence);
}

/** A decision without who made it: "I decided to use node:test" says "Use node:test". */
export function decided(text: string): string {
  const what = text.replace(
    /^(?:(?:so|and|here|also),? )?(?:(?:I|we)(?:['’]ve| have)? )?(?:decided|chosen?|chose|opted)(?: to| on| for)? /i,
    '',
  );
  return `${what.slice(0, 1).toUpperCase()}${what.slice(1)}`;
}

/** Lines that belong together in one text: an empty line ends it, and an item begins a new one. */
function intoParagraphs(paragraphs: string[], line: string): string[] {
  const follows = paragraphs.at(-1) ?? '';
  if (line.trim() === '' || BEGINNING.test(line) || /^\s*#/.test(follows)) paragraphs.push(line);
  else paragraphs.push(`${paragraphs.pop()} ${line.trim()}`);
  return paragraphs;
}

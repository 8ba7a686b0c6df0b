const CODE = /^ {0,3}(```|~~~)[\s\S]*?(^ {0,3}\1|$(?![\s\S]))/gm;
/** A line that begins an item, a heading or a row of a table. */
const BEGINNING = /^\s*(?:[-*+#>|]|\d+[.)]|[a-d]\)|[A-Z][A-Z ]+:)\s/;
const SENTENCE_END = /[.!?]["')*_]{0,3}\s+(?=\S)|[。！？]/g;
const MARK = /^\s*(?:[-*+#>]+|\d+[.)]|[a-d]\))\s+/;

/** A paragraph, an item or a heading of a text in Markdown, as one line without its mark. */
export interface Paragraph {
  readonly text: string;
  readonly kind: 'text' | 'item' | 'heading' | 'row' | 'quote';
}

export function paragraphsOf(text: string): Paragraph[] {
  return withoutCode(text)
    .split('\n')
    .reduce(intoParagraphs, [''])
    .filter((line) => line.trim() !== '' && !RULE.test(line))
    .map((line) => ({ text: line.replace(MARK, '').trim(), kind: kindOfLine(line) }));
}

export function withoutCode(text: string): string {
  return text.replaceAll('\r', '').replace(CODE, '\n\n');
}

const RULE = /^\s*[-=*_]{3,}\s*$/;

function kindOfLine(line: string): Paragraph['kind'] {
  if (/^\s*#/.test(line)) return 'heading';
  if (/^\s*\|/.test(line)) return 'row';
  if (/^\s*>/.test(line)) return 'quote';
  return MARK.test(line) ? 'item' : 'text';
}

export function sentencesOf(paragraph: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  // Each result is read: a split with a look behind would take three times as long.
  for (const { 0: end, index } of paragraph.matchAll(SENTENCE_END)) {
    sentences.push(paragraph.slice(start, index + end.trimEnd().length));
    start = index + end.length;
  }
  sentences.push(paragraph.slice(start));
  return sentences.filter((sentence) => sentence.trim() !== '');
}

/** The words of a text that say something, in lower case: the long ones, and numbers. */
export function longWords(text: string): string[] {
  return (
    text.toLowerCase().match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]{2}|[\p{L}\p{N}_]{4,}|\d+/gu) ?? []
  );
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

const WORDS = /[\p{L}\p{N}_#+]+(?:['’]\p{L}+)?/gu;
const DENYING =
  /^(?:no|not|never|cannot|instead|rather|\p{L}+n['’]t|nie|niemals|nicht|kein\p{L}*|statt|nunca|jamás|jamais|pas|não)$/u;
const TELLING_NOTHING =
  /^(?:an?|the|of|than|for|in|on|to|and|we|is|are|be|it|do|does|please|always|use|uses|used|using|must|should|shall|will|der|die|das|den|dem|eine?|immer|bitte|el|la|los|las|siempre|les?|toujours|os?|as|sempre)$/;

/** The words of a text that tell something. All that deny are one: "never", "not", "instead of". */
export function tellingWords(text: string): string[] {
  const words = (text.toLowerCase().match(WORDS) ?? []).filter((word) => !TELLING_NOTHING.test(word));
  return words.map((word) => (DENYING.test(word) ? 'not' : word));
}

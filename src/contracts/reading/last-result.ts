export const BEGIN = 'BEGIN_DISPATCH_RESULT';
export const END = 'END_DISPATCH_RESULT';
const FENCE = '```';

export interface ResultText {
  /** Can be published unchanged. */
  readonly text: string;
  /** Text without markers may be an example. */
  readonly marked: boolean;
}

/** Behind the block that ends a message only its fence and marks of Markdown stand. */
const NOTHING_MORE = /^[\s`*_~.]*$/;

/**
 * Returns the result block that ends a message: any other may be an example, or quoted from a file. A client may join the
 * answers of several attempts, so earlier ones may stand before it. A truncated block ends at the end of the text.
 */
export function lastResult(message: string): ResultText | undefined {
  const at = message.lastIndexOf(BEGIN);
  const whole = message.trim();
  if (at < 0 && whole.startsWith('{') && whole.endsWith('}')) return { text: whole, marked: false };
  if (at < 0) {
    const block = fencedBlocks(message).at(-1);
    if (!block?.text.startsWith('{') || !NOTHING_MORE.test(message.slice(block.end))) return undefined;
    return { text: block.text, marked: false };
  }
  const part = message.slice(at);
  const closes = part.indexOf(END);
  const text = closes < 0 ? part : part.slice(0, closes + END.length);
  return text.includes('{') && NOTHING_MORE.test(part.slice(text.length))
    ? { text, marked: true }
    : undefined;
}

interface FencedBlock {
  readonly language: string;
  readonly text: string;
  /** Its last line ends before this character. */
  readonly end: number;
}

/** Returns the closed blocks of code in a text. A regular expression would backtrack for hours on a hostile one. */
export function fencedBlocks(text: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { readonly language: string; readonly from: number } | undefined;
  let at = 0;
  for (const line of text.split('\n')) {
    const end = at + line.length;
    if (line.trimStart().startsWith(FENCE)) {
      if (open !== undefined)
        blocks.push({ language: open.language, text: text.slice(open.from, at).trim(), end });
      const language = line.trim().slice(FENCE.length).toLowerCase();
      open = open === undefined ? { language, from: end + 1 } : undefined;
    }
    at = end + 1;
  }
  return blocks;
}

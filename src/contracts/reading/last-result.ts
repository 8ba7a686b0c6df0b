export const BEGIN = 'BEGIN_DISPATCH_RESULT';
export const END = 'END_DISPATCH_RESULT';
const FENCE = '```';

export interface ResultText {
  /** Can be published unchanged. */
  readonly text: string;
  /** Text without markers may be an example. */
  readonly marked: boolean;
}

/**
 * Returns the last result block of a message, since a client may join the answers of several attempts. Text that only
 * mentions the markers is not a block.
 */
export function lastResult(message: string): ResultText | undefined {
  return lastMarked(message) ?? lastFenced(message) ?? whole(message);
}

/** Scans each part once: a text may repeat a marker a hundred thousand times. */
function lastMarked(message: string): ResultText | undefined {
  for (let end = message.length; end > 0; ) {
    const at = message.lastIndexOf(BEGIN, end - 1);
    if (at < 0) return undefined;
    const part = message.slice(at, end);
    const closes = part.indexOf(END);
    // A truncated block ends at the end of the text.
    const block = closes < 0 ? part : part.slice(0, closes + END.length);
    if (block.includes('{')) return { text: block, marked: true };
    end = at;
  }
  return undefined;
}

function lastFenced(message: string): ResultText | undefined {
  const block = fencedBlocks(message).findLast(({ text }) => text.startsWith('{'));
  return block && { text: block.text, marked: false };
}

function whole(message: string): ResultText | undefined {
  const text = message.trim();
  return text.startsWith('{') && text.endsWith('}') ? { text, marked: false } : undefined;
}

/**
 * Returns the closed blocks of code in a text. A regular expression would backtrack for hours on a hostile one.
 */
export function fencedBlocks(text: string): { readonly language: string; readonly text: string }[] {
  const blocks: { language: string; text: string }[] = [];
  let open: { readonly language: string; readonly from: number } | undefined;
  let at = 0;
  for (const line of text.split('\n')) {
    if (line.trimStart().startsWith(FENCE)) {
      if (open !== undefined)
        blocks.push({ language: open.language, text: text.slice(open.from, at).trim() });
      const language = line.trim().slice(FENCE.length).toLowerCase();
      open = open === undefined ? { language, from: at + line.length + 1 } : undefined;
    }
    at += line.length + 1;
  }
  return blocks;
}

/** The part of a message in which an agent's result stands. */
export interface ResultText {
  /** A body that can be published as it is. */
  readonly text: string;
  /** It stands between markers: without them it may be an example. */
  readonly marked: boolean;
}

/**
 * The last result block of a message: what counts of one that holds several, since a client may join the answers of
 * several tries. Words about the markers do not make a block. Undefined for a message without one.
 */
export function lastResult(message: string): ResultText | undefined {
  return lastMarked(message) ?? lastFenced(message) ?? whole(message);
}

/** Looks at each part of the text once: a text may repeat a marker a hundred thousand times. */
function lastMarked(message: string): ResultText | undefined {
  for (let end = message.length; end > 0; ) {
    const at = message.lastIndexOf(BEGIN, end - 1);
    if (at < 0) return undefined;
    const part = message.slice(at, end);
    const closes = part.indexOf(END);
    // Of one that is cut off, what is there.
    const block = closes < 0 ? part : part.slice(0, closes + END.length);
    if (block.includes('{')) return { text: block, marked: true };
    end = at;
  }
  return undefined;
}

function lastFenced(message: string): ResultText | undefined {
  const blocks: string[] = [];
  let from: number | undefined;
  let at = 0;
  for (const line of message.split('\n')) {
    const isFence = line.trimStart().startsWith(FENCE);
    if (isFence && from !== undefined) blocks.push(message.slice(from, at).trim());
    if (isFence) from = from === undefined ? at + line.length + 1 : undefined;
    at += line.length + 1;
  }
  const block = blocks.findLast((each) => each.startsWith('{'));
  return block === undefined ? undefined : { text: block, marked: false };
}

function whole(message: string): ResultText | undefined {
  const text = message.trim();
  return text.startsWith('{') && text.endsWith('}') ? { text, marked: false } : undefined;
}

/** What stands around a result in a text. */
export const BEGIN = 'BEGIN_DISPATCH_RESULT';
export const END = 'END_DISPATCH_RESULT';
export const FENCE = '```';

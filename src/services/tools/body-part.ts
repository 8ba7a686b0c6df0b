/** A body, or the part of it that one reply can carry. */
export interface BodyPart {
  readonly body: string;
  readonly encoding: 'utf8' | 'base64';
  readonly truncated?: true;
  /** Where the rest begins. */
  readonly next?: number;
}

/** What JSON may make of one byte at most: `\u0000`. */
const MOST_PER_BYTE = 6;
/** Room for all else in the reply. */
const AROUND = 16_384;
const MOST_BYTES = 128_000;

/** The part of a body from a byte on: as text where all of it is UTF-8, cut between two characters. */
export function bodyPart(whole: Uint8Array, offset: number, maxReplyBytes: number): BodyPart {
  const most = Math.max(64, Math.min(MOST_BYTES, Math.floor((maxReplyBytes - AROUND) / MOST_PER_BYTE)));
  const from = Math.min(offset, whole.length);
  let to = Math.min(whole.length, from + most);
  while (to < whole.length && to > from && isContinuation(whole[to])) to -= 1;
  const part = whole.subarray(from, to);
  const isPart = from > 0 || to < whole.length;
  const text = textOf(whole) === undefined ? undefined : textOf(part);
  return {
    body: text ?? Buffer.from(part).toString('base64'),
    encoding: text === undefined ? 'base64' : 'utf8',
    ...(isPart && { truncated: true as const }),
    ...(to < whole.length && { next: to }),
  };
}

/** Whether a byte of UTF-8 goes on with a character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

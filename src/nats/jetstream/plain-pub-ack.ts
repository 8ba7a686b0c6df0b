/** A number of so many digits is exact. */
const MAX_DIGITS = 15;
const CLOSING = 0x7d;
const ZERO = 0x30;

const BEFORE = '{"stream":"';
const AFTER = '","seq":';

/** The sequence in a PubAck that says nothing else, as nearly all do: read without a parser. */
export function plainSequence(data: Uint8Array, stream: string): number | undefined {
  const nameEnds = BEFORE.length + stream.length;
  const head = nameEnds + AFTER.length;
  const digits = data.length - head - 1;
  if (digits < 1 || digits > MAX_DIGITS || data[data.length - 1] !== CLOSING) return undefined;
  if (!has(data, 0, BEFORE) || !has(data, BEFORE.length, stream) || !has(data, nameEnds, AFTER))
    return undefined;
  let sequence = 0;
  for (let at = head; at < data.length - 1; at += 1) {
    const digit = (data[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    sequence = sequence * 10 + digit;
  }
  return sequence === 0 ? undefined : sequence;
}

function has(data: Uint8Array, from: number, text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (data[from + at] !== text.charCodeAt(at)) return false;
  return true;
}

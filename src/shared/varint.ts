/** Varints: seven bits per byte, the lowest first, the top bit set on all but the last. */

export function writtenLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length += 1;
  return length;
}

/** Returns the offset after the number. */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  let [place, rest] = [at, value];
  for (; rest >= 128; rest = Math.floor(rest / 128)) {
    bytes[place] = 128 + (rest % 128);
    place += 1;
  }
  bytes[place] = rest;
  return place + 1;
}

/** `next` is the offset after the number. */
export function readNumber(bytes: Uint8Array, at: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let [place, scale] = [at, 1]; ; place += 1, scale *= 128) {
    const byte = bytes[place] ?? 0;
    value += (byte % 128) * scale;
    if (byte < 128) return { value, next: place + 1 };
  }
}

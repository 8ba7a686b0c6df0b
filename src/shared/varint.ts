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

/** Vectors as base64 of 32-bit floats, little-endian on every machine. */

const BYTES = 4;

export function float32ToBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * BYTES);
  for (let index = 0; index < vector.length; index += 1)
    bytes.writeFloatLE(vector[index] ?? 0, index * BYTES);
  return bytes.toString('base64');
}

/** Returns undefined if the bytes are not a whole number of floats. */
export function float32FromBase64(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % BYTES !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const vector = new Float32Array(bytes.length / BYTES);
  // Plain loops: a cold read of 5,000 vectors has two million numbers.
  for (let index = 0; index < vector.length; index += 1) vector[index] = view.getFloat32(index * BYTES, true);
  return vector;
}

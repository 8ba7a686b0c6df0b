/** Vectors as text: the base64 of 32-bit floats, least significant byte first, on machines of either byte order. */

const BYTES = 4;

export function float32ToBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * BYTES);
  for (let index = 0; index < vector.length; index += 1)
    bytes.writeFloatLE(vector[index] ?? 0, index * BYTES);
  return bytes.toString('base64');
}

/** `undefined` where the bytes are not a whole number of floats. */
export function float32FromBase64(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % BYTES !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const vector = new Float32Array(bytes.length / BYTES);
  // Plain loops: a cold read of 5,000 vectors holds two million numbers.
  for (let index = 0; index < vector.length; index += 1) vector[index] = view.getFloat32(index * BYTES, true);
  return vector;
}

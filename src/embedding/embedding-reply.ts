import { z } from 'zod';
import { float32FromBase64 } from '../shared/float32.js';

/** The used part of the reply: a vector for each text, as numbers or, from some servers in any case, as base64. */
const reply = z.object({
  data: z.array(
    z.object({
      index: z.int().nonnegative(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
});

/**
 * The vectors of a reply, in the order of the texts: `index` gives that order, not the place in the list.
 *
 * @returns `fault` completes "<endpoint> …"
 */
export function vectorsOf(
  body: string,
  count: number,
): { readonly vectors: Float32Array[] } | { readonly fault: string } {
  const json = jsonOf(body);
  if (json === undefined) return { fault: 'gave no embeddings: the body is not JSON' };
  const parsed = reply.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { fault: `gave no embeddings: ${issue?.path.join('.') || 'the body'}: ${issue?.message}` };
  }
  const { data } = parsed.data;
  if (data.length !== count) return { fault: `gave ${data.length} vectors for ${count} texts` };
  const vectors: Float32Array[] = [];
  for (const { index, embedding } of data) {
    if (index >= count || vectors[index] !== undefined)
      return { fault: `did not give each text a vector of its own` };
    const vector =
      typeof embedding === 'string' ? float32FromBase64(embedding) : Float32Array.from(embedding);
    const fault = vectorFault(vector);
    if (vector === undefined || fault !== undefined) return { fault: `gave ${fault}` };
    vectors[index] = vector;
  }
  return { vectors };
}

/** What is wrong with a vector, or `undefined`. */
export function vectorFault(vector: Float32Array | undefined): string | undefined {
  if (vector === undefined || vector.length === 0) return 'an empty vector';
  if (!vector.every(Number.isFinite)) return 'a vector with a value that is not a finite number';
  if (vector.every((value) => value === 0)) return 'a vector of zeros';
  return undefined;
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

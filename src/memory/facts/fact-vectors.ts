import type { VectorJson } from '../../contracts/recorded-fact.js';
import type { EventOf } from '../../contracts/session-events.js';
import { dropOldest } from '../../shared/collections.js';
import { clipText } from '../../shared/text.js';
import type { FactIndex, IndexedFact } from './fact-index.js';

/**
 * Vectors of what facts say, so that decisions are found by meaning. The log stores them, in 8 bits a number: no replay
 * runs a model, and products of whole numbers are the same on every CPU.
 */
export interface FactVector {
  readonly model: string;
  /** A number of the unit vector is one of the values times the scale. */
  readonly scale: number;
  readonly values: Int8Array;
}

/** By the fact's id, the newest at the end. */
export type FactVectors = Map<string, FactVector>;

/** Decisions that are listed by words alone; only more are worth a model's time. */
const BY_WORDS = 40;
const MAX_CHARACTERS = 300;
/** Bytes of the vectors of a session: a snapshot holds them all. */
const MAX_BYTES = 256_000;
const MAX_VECTORS = 500;

function mostVectors(dimension: number): number {
  return Math.min(MAX_VECTORS, Math.floor(MAX_BYTES / dimension));
}

/** Shortens a vector to 8 bits a number. */
export function quantized(model: string, vector: Float32Array): FactVector {
  let [squares, highest] = [0, 0];
  for (const value of vector) {
    squares += value * value;
    highest = Math.max(highest, Math.abs(value));
  }
  const values = Int8Array.from(vector, (value) => Math.round((value / highest) * 127));
  return { model, scale: highest / 127 / Math.sqrt(squares), values };
}

export function toStored({ model, scale, values }: FactVector): VectorJson {
  return {
    model,
    scale,
    values: Buffer.from(values.buffer, values.byteOffset, values.length).toString('base64'),
  };
}

export function fromStored({ model, scale, values }: VectorJson): FactVector {
  return { model, scale, values: Int8Array.from(Buffer.from(values, 'base64')) };
}

export function addVectors(known: FactVectors, { model, vectors }: EventOf<'fact.vectors'>['data']): void {
  for (const { fact, ...stored } of vectors) {
    const vector = fromStored({ model, ...stored });
    known.delete(fact);
    known.set(fact, vector);
    dropOldest(known, mostVectors(vector.values.length));
  }
}

/** True if decisions are so many that meaning may order them, and some have a vector, of this model if one is given. */
export function mayOrder(index: FactIndex, vectors: FactVectors, model?: string): boolean {
  if (index.lasting.size <= BY_WORDS) return false;
  if (model === undefined) return true;
  for (const vector of vectors.values()) if (vector.model === model) return true;
  return false;
}

/** Returns the cosine of a task and a fact, by its id; 0 for a fact without a vector of the task's model. */
export function closeness(task: FactVector, vectors: FactVectors): (fact: string) => number {
  return (fact) => {
    const other = vectors.get(fact);
    if (other?.model !== task.model || other.values.length !== task.values.length) return 0;
    return dot(task.values, other.values) * task.scale * other.scale;
  };
}

/** In 32 bits and four sums, which takes two thirds of the time. A missing number counts 0. */
function dot(a: Int8Array, b: Int8Array): number {
  let [s, t, u, v] = [0, 0, 0, 0];
  for (let at = 0; at < a.length; at += 4) {
    s = (s + Math.imul(a[at] as number, b[at] as number)) | 0;
    t = (t + Math.imul(a[at + 1] as number, b[at + 1] as number)) | 0;
    u = (u + Math.imul(a[at + 2] as number, b[at + 2] as number)) | 0;
    v = (v + Math.imul(a[at + 3] as number, b[at + 3] as number)) | 0;
  }
  return s + t + u + v;
}

/** Returns the facts that need a vector of a model, the lasting ones first, each the newest first. */
export function withoutVector(index: FactIndex, vectors: FactVectors, model: string): IndexedFact[] {
  const said = [...index.byAge(false).newestFirst()].filter(isEmbedded);
  const wanted = [...said.filter((each) => each.isLasting), ...said.filter((each) => !each.isLasting)];
  const dimension = [...vectors.values()].findLast((vector) => vector.model === model)?.values.length;
  return wanted.slice(0, mostVectors(dimension ?? 1)).filter(({ fact }) => {
    const known = vectors.get(fact.id);
    return known?.model !== model || known.values.length !== dimension;
  });
}

const EMBEDDED: ReadonlySet<IndexedFact['group']> = new Set(['findings', 'requirements']);

function isEmbedded({ isLasting, group }: IndexedFact): boolean {
  return isLasting || EMBEDDED.has(group);
}

/** Returns what is embedded of a fact. */
export function embeddedText({ fact: { subject, relation, object }, isOfTask }: IndexedFact): string {
  return clipText(isOfTask ? object : `${subject} ${relation} ${object}`, MAX_CHARACTERS);
}

import { BestLearnings, follow } from './best-learnings.js';
import type { Learning, RankedLearning } from './learnings-state.js';

/** A vector with its source. */
interface LearningVector {
  readonly model: string;
  /** The learning's content at that time. */
  readonly text: string;
  readonly vector: Float32Array;
}

export interface SearchLimits {
  readonly maxResults: number;
  /** Minimum cosine, 0 to 1. */
  readonly minSimilarity: number;
}

interface Entry {
  /** The learning's content at that time. */
  readonly text: string;
  readonly unit: Float32Array;
  /** The active learning with that text. */
  learning: Learning | undefined;
}

/**
 * Cosine search over one project's learnings, for one model.
 *
 * Vectors and learnings arrive in any order: a vector counts while an active learning has its id and text. A query meets
 * only vectors of its own dimension: others are left by a changed model of the same name.
 */
export class VectorIndex {
  readonly #model: string;
  readonly #known = new Map<string, Learning>();
  readonly #entries = new Map<string, Entry>();

  constructor(model: string) {
    this.#model = model;
  }

  /**
   * Adds or replaces the vector of a learning.
   *
   * @returns `false` for an unusable one: of another model, zero, or with a value that is not a number. The earlier one
   * is removed then too
   */
  put(id: string, { model, text, vector }: LearningVector): boolean {
    this.#entries.delete(id);
    const unit = model === this.#model ? unitVector(vector) : undefined;
    if (unit === undefined) return false;
    this.#entries.set(id, { text, unit, learning: undefined });
    this.#assign(id, this.#known.get(id));
    return true;
  }

  /** Updates the index to the active learnings. */
  sync(learnings: ReadonlyMap<string, Learning>): void {
    follow(this.#known, learnings, {
      added: (learning) => this.#assign(learning.id, learning),
      removed: (learning) => this.#assign(learning.id, undefined),
    });
  }

  /** True if any active learning has a vector. */
  get usable(): boolean {
    return [...this.#entries.values()].some(({ learning }) => learning !== undefined);
  }

  /** True if any active learning has a vector of this dimension. */
  covers(dimension: number): boolean {
    return [...this.#entries.values()].some(
      ({ unit, learning }) => learning !== undefined && unit.length === dimension,
    );
  }

  /** Returns the closest learnings, best first; none for an unknown dimension or a zero vector. */
  search(vector: Float32Array, { maxResults, minSimilarity }: SearchLimits): RankedLearning[] {
    const best = new BestLearnings(maxResults);
    const asked = unitVector(vector);
    if (asked === undefined) return best.ranked;
    for (const { unit, learning } of this.#entries.values()) {
      if (learning === undefined || unit.length !== asked.length) continue;
      const cosine = dot(unit, asked);
      if (cosine >= minSimilarity) best.add(learning, Math.min(1, cosine));
    }
    return best.ranked;
  }

  #assign(id: string, learning: Learning | undefined): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.learning = learning?.content === entry.text ? learning : undefined;
  }
}

/** Normalizes a vector; `undefined` if it is zero or has a value that is not finite. */
function unitVector(vector: Float32Array): Float32Array | undefined {
  const length = Math.sqrt(dot(vector, vector));
  return Number.isFinite(length) && length > 0 ? vector.map((value) => value / length) : undefined;
}

/** Four independent sums, which the processor computes in parallel. A missing number counts 0. */
function dot(one: Float32Array, other: Float32Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let at = 0; at < one.length; at += 4) {
    a += (one[at] ?? 0) * (other[at] ?? 0);
    b += (one[at + 1] ?? 0) * (other[at + 1] ?? 0);
    c += (one[at + 2] ?? 0) * (other[at + 2] ?? 0);
    d += (one[at + 3] ?? 0) * (other[at + 3] ?? 0);
  }
  return a + b + c + d;
}

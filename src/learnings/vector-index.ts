import { BestLearnings, follow } from './best-learnings.js';
import type { Learning, RankedLearning } from './learning-types.js';
import { VectorTable } from './vector-table.js';

/** A vector with what it was computed from. */
export interface LearningVector {
  readonly model: string;
  /** The content that the learning had. */
  readonly text: string;
  readonly vector: Float32Array;
}

export interface SearchLimits {
  readonly maxResults: number;
  /** Least cosine, 0 to 1. */
  readonly minSimilarity: number;
}

/**
 * The vectors of one project's learnings, of one model, searched by cosine.
 *
 * Vectors and learnings come in any order: a vector counts while there is a learning in force with its id and its
 * text. Vectors of different dimensions, as a model leaves them that was exchanged under its name, stand apart: a
 * query meets only those of its own dimension.
 */
export class VectorIndex {
  readonly #model: string;
  readonly #known = new Map<string, Learning>();
  readonly #tables = new Map<number, VectorTable>();

  constructor(model: string) {
    this.#model = model;
  }

  /**
   * Takes in the vector of a learning, in place of an earlier one.
   *
   * @returns `false` for an unusable one: of another model, without a direction, or with a value that is not a number.
   *   The earlier one is gone then too
   */
  put(id: string, { model, text, vector }: LearningVector): boolean {
    this.#drop(id);
    const unit = model === this.#model ? unitVector(vector) : undefined;
    if (unit === undefined) return false;
    const table = this.#tables.get(unit.length) ?? new VectorTable(unit.length);
    this.#tables.set(unit.length, table);
    table.set(id, text, unit);
    table.assign(id, this.#known.get(id));
    return true;
  }

  /** Brings the index in step with the learnings in force. */
  sync(learnings: ReadonlyMap<string, Learning>): void {
    follow(this.#known, learnings, {
      added: (learning) => this.#assign(learning.id, learning),
      removed: (learning) => this.#assign(learning.id, undefined),
    });
  }

  /** Whether any learning in force has a vector. */
  get usable(): boolean {
    return [...this.#tables.values()].some((table) => table.hasActive);
  }

  /** Whether any learning in force has a vector of this dimension. */
  covers(dimension: number): boolean {
    return this.#tables.get(dimension)?.hasActive ?? false;
  }

  /**
   * The learnings closest to a vector, best first. None where no vector has its dimension, or it has no direction.
   */
  search(vector: Float32Array, { maxResults, minSimilarity }: SearchLimits): RankedLearning[] {
    const best = new BestLearnings(maxResults);
    const unit = unitVector(vector);
    if (unit === undefined) return best.ranked;
    this.#tables.get(unit.length)?.compare(unit, (learning, cosine) => {
      if (cosine >= minSimilarity) best.add(learning, Math.min(1, cosine));
    });
    return best.ranked;
  }

  #assign(id: string, learning: Learning | undefined): void {
    for (const table of this.#tables.values()) table.assign(id, learning);
  }

  #drop(id: string): void {
    for (const table of this.#tables.values()) {
      table.delete(id);
      if (table.size === 0) this.#tables.delete(table.dimension);
    }
  }
}

/** The vector at length 1; `undefined` where it has no direction or holds a value that is not a finite number. */
function unitVector(vector: Float32Array): Float32Array | undefined {
  let squares = 0;
  for (let i = 0; i < vector.length; i += 1) squares += (vector[i] ?? 0) ** 2;
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length) || length === 0) return undefined;
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < unit.length; i += 1) unit[i] = (vector[i] ?? 0) / length;
  return unit;
}

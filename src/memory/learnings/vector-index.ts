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

/**
 * Cosine search over one project's learnings, for one model.
 *
 * Vectors and learnings arrive in any order: a vector counts while an active learning has its id and text. Vectors of
 * other dimensions, left by a changed model of the same name, are kept apart: a query meets only its own dimension.
 */
export class VectorIndex {
  readonly #model: string;
  readonly #known = new Map<string, Learning>();
  readonly #tables = new Map<number, VectorTable>();

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
    this.#drop(id);
    const unit = model === this.#model ? unitVector(vector) : undefined;
    if (unit === undefined) return false;
    const table = this.#tables.get(unit.length) ?? new VectorTable(unit.length);
    this.#tables.set(unit.length, table);
    table.set(id, text, unit);
    table.assign(id, this.#known.get(id));
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
    return [...this.#tables.values()].some((table) => table.hasActive);
  }

  /** True if any active learning has a vector of this dimension. */
  covers(dimension: number): boolean {
    return this.#tables.get(dimension)?.hasActive ?? false;
  }

  /** Returns the closest learnings, best first; none for an unknown dimension or a zero vector. */
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

/** Normalizes a vector; `undefined` if it is zero or has a value that is not finite. */
function unitVector(vector: Float32Array): Float32Array | undefined {
  let squares = 0;
  for (let i = 0; i < vector.length; i += 1) squares += (vector[i] ?? 0) ** 2;
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length) || length === 0) return undefined;
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < unit.length; i += 1) unit[i] = (vector[i] ?? 0) / length;
  return unit;
}

const FIRST_ROWS = 64;

/** Unit vectors of one dimension, row by row in one array. */
class VectorTable {
  readonly dimension: number;
  #data: Float32Array;
  readonly #ids: string[] = [];
  readonly #texts: string[] = [];
  /** The active learning with the row's text. */
  readonly #active: (Learning | undefined)[] = [];
  readonly #rowOf = new Map<string, number>();

  constructor(dimension: number) {
    this.dimension = dimension;
    this.#data = new Float32Array(dimension * FIRST_ROWS);
  }

  get size(): number {
    return this.#ids.length;
  }

  /** Adds or replaces the unit vector of an id. */
  set(id: string, text: string, unit: Float32Array): void {
    const row = this.#rowOf.get(id) ?? this.#ids.length;
    if ((row + 1) * this.dimension > this.#data.length) {
      const larger = new Float32Array(this.#data.length * 2);
      larger.set(this.#data);
      this.#data = larger;
    }
    this.#data.set(unit, row * this.dimension);
    this.#ids[row] = id;
    this.#texts[row] = text;
    this.#active[row] = undefined;
    this.#rowOf.set(id, row);
  }

  /** Moves the last row into the removed one. */
  delete(id: string): void {
    const row = this.#rowOf.get(id);
    if (row === undefined) return;
    const last = this.#ids.length - 1;
    this.#data.copyWithin(row * this.dimension, last * this.dimension, (last + 1) * this.dimension);
    const [lastId, lastText, lastActive] = [this.#ids.pop(), this.#texts.pop(), this.#active.pop()];
    this.#rowOf.delete(id);
    if (row === last || lastId === undefined || lastText === undefined) return;
    this.#ids[row] = lastId;
    this.#texts[row] = lastText;
    this.#active[row] = lastActive;
    this.#rowOf.set(lastId, row);
  }

  /** Assigns the current learning of an id; a learning with another text is not found any more. */
  assign(id: string, learning: Learning | undefined): void {
    const row = this.#rowOf.get(id);
    if (row !== undefined) this.#active[row] = learning?.content === this.#texts[row] ? learning : undefined;
  }

  compare(unit: Float32Array, found: (learning: Learning, cosine: number) => void): void {
    for (const [row, learning] of this.#active.entries()) {
      if (learning !== undefined) found(learning, dot(this.#data, row * this.dimension, unit));
    }
  }

  get hasActive(): boolean {
    return this.#active.some((learning) => learning !== undefined);
  }
}

/** Four independent sums, which the processor computes in parallel. */
function dot(data: Float32Array, from: number, unit: Float32Array): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const whole = unit.length - (unit.length % 4);
  for (let i = 0; i < whole; i += 4) {
    const at = from + i;
    a += (data[at] ?? 0) * (unit[i] ?? 0);
    b += (data[at + 1] ?? 0) * (unit[i + 1] ?? 0);
    c += (data[at + 2] ?? 0) * (unit[i + 2] ?? 0);
    d += (data[at + 3] ?? 0) * (unit[i + 3] ?? 0);
  }
  for (let i = whole; i < unit.length; i += 1) a += (data[from + i] ?? 0) * (unit[i] ?? 0);
  return a + b + c + d;
}

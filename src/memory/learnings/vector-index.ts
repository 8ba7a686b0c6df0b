import { BestLearnings, follow } from './best-learnings.js';
import type { Learning, RankedLearning } from './learnings-state.js';

/** A vector with what it was computed from. */
interface LearningVector {
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

const FIRST_ROWS = 64;

/** Vectors of one dimension, of length 1, row after row in one array. */
class VectorTable {
  readonly dimension: number;
  #data: Float32Array;
  readonly #ids: string[] = [];
  readonly #texts: string[] = [];
  /** The learning that each row stands for, where it is in force and has the row's text. */
  readonly #active: (Learning | undefined)[] = [];
  readonly #rowOf = new Map<string, number>();

  constructor(dimension: number) {
    this.dimension = dimension;
    this.#data = new Float32Array(dimension * FIRST_ROWS);
  }

  get size(): number {
    return this.#ids.length;
  }

  /** Puts a vector, normalised, in place of the one that this id may have. */
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

  /** Removes a row; the last one takes its place. */
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

  /** Says what learning an id now stands for; one with another text than its row is not found any more. */
  assign(id: string, learning: Learning | undefined): void {
    const row = this.#rowOf.get(id);
    if (row !== undefined) this.#active[row] = learning?.content === this.#texts[row] ? learning : undefined;
  }

  /** Calls `found` with each learning in force and its cosine to `unit`, a vector of length 1. */
  compare(unit: Float32Array, found: (learning: Learning, cosine: number) => void): void {
    for (const [row, learning] of this.#active.entries()) {
      if (learning !== undefined) found(learning, dot(this.#data, row * this.dimension, unit));
    }
  }

  /** Whether any row stands for a learning in force. */
  get hasActive(): boolean {
    return this.#active.some((learning) => learning !== undefined);
  }
}

/** Four sums side by side, which the processor adds up at the same time. */
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

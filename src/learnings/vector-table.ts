import type { Learning } from './learning-types.js';

const FIRST_ROWS = 64;

/** Vectors of one dimension, of length 1, row after row in one array. */
export class VectorTable {
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

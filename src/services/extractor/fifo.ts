/** First in, first out, at the same cost however many wait. */
export class Fifo<T> {
  #items: T[] = [];
  #taken = 0;

  get length(): number {
    return this.#items.length - this.#taken;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#taken];
    if (item === undefined) return undefined;
    this.#taken += 1;
    // Taken items are released together, once they are half of all: a shift of a large array copies the rest.
    if (this.#taken * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#taken = 0;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.slice(this.#taken).values();
  }
}

/** The send queue of one browser. A slow browser that exceeds the limits loses the queue and is told to reload. */
export interface QueueLimits {
  readonly messages: number;
  readonly bytes: number;
}

const QUEUE_LIMITS: QueueLimits = { messages: 1000, bytes: 1024 * 1024 };

export class BrowserQueue {
  readonly #limits: QueueLimits;
  readonly #onLost: () => readonly Uint8Array[];
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #wake: () => void = () => {};
  #closed = false;
  /** The messages, with backpressure. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;

  /**
   * @param onLost returns the messages that replace a dropped queue
   * @param onGone called when the browser has closed the stream
   */
  constructor(onLost: () => readonly Uint8Array[], onGone: () => void, limits: QueueLimits = QUEUE_LIMITS) {
    this.#onLost = onLost;
    this.#limits = limits;
    this.stream = new ReadableStream(
      {
        pull: async (controller) => {
          while (this.#waiting.length === 0 && !this.#closed) {
            await new Promise<void>((resolve) => {
              this.#wake = resolve;
            });
          }
          if (this.#waiting.length > 0) controller.enqueue(this.#take());
          else controller.close();
        },
        cancel: () => {
          this.close();
          onGone();
        },
      },
      { highWaterMark: 0 },
    );
  }

  get waiting(): { readonly messages: number; readonly bytes: number } {
    return { messages: this.#waiting.length, bytes: this.#bytes };
  }

  push(message: Uint8Array): void {
    if (this.#closed) return;
    this.#add(message);
    if (this.#waiting.length > this.#limits.messages || this.#bytes > this.#limits.bytes) {
      this.#waiting = [];
      this.#bytes = 0;
      for (const each of this.#onLost()) this.#add(each);
    }
    this.#wake();
  }

  /** Ends the stream after the queued messages. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #add(message: Uint8Array): void {
    this.#waiting.push(message);
    this.#bytes += message.length;
  }

  #take(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.#bytes);
    let at = 0;
    for (const each of this.#waiting) {
      all.set(each, at);
      at += each.length;
    }
    this.#waiting = [];
    this.#bytes = 0;
    return all;
  }
}

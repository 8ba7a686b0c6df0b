import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { messageOf, ThroughlineError } from '../contracts/errors.js';

/** Bytes of a log's beginning that are kept. */
const HEAD = 8 * 1024 * 1024;
/** Bytes of its end that are kept; with the line between both, a log has at most 16 MB. */
const TAIL = HEAD - 100;

/**
 * The log of a call: the beginning and the end of what it wrote. The end is a ring in the file while the call runs, and is
 * put in order when it ends. Each method throws `config_invalid` if the file cannot be written.
 */
export class CallLog {
  readonly #path: string;
  readonly #file: number;
  #size = 0;

  /** Creates the file. Whatever stood there, a link also, is removed and not followed. */
  constructor(path: string) {
    this.#path = path;
    this.#file = this.#written(() => {
      rmSync(path, { force: true });
      return openSync(path, 'wx+', 0o600);
    });
  }

  write(text: string | Uint8Array): void {
    this.#written(() => this.#append(text));
  }

  end(): void {
    this.#written(() => {
      try {
        this.#putInOrder();
      } finally {
        closeSync(this.#file);
      }
    });
  }

  #append(text: string | Uint8Array): void {
    let rest = Buffer.from(text);
    while (rest.length > 0) {
      const room = this.#size < HEAD ? HEAD - this.#size : TAIL - ((this.#size - HEAD) % TAIL);
      const part = rest.subarray(0, room);
      this.#writeAt(part, this.#place);
      this.#size += part.length;
      rest = rest.subarray(part.length);
    }
  }

  #putInOrder(): void {
    const leftOut = this.#size - HEAD - TAIL;
    if (leftOut > 0) {
      const ring = Buffer.alloc(TAIL);
      readSync(this.#file, ring, 0, TAIL, HEAD);
      const begins = this.#place - HEAD;
      const note = Buffer.from(`\n… ${leftOut} bytes are left out …\n`);
      this.#writeAt(Buffer.concat([note, ring.subarray(begins), ring.subarray(0, begins)]), HEAD);
      ftruncateSync(this.#file, HEAD + note.length + TAIL);
    }
  }

  /** Position in the file of the next byte. */
  get #place(): number {
    return this.#size < HEAD ? this.#size : HEAD + ((this.#size - HEAD) % TAIL);
  }

  #written<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      const why = `${this.#path} cannot be written (${messageOf(cause)})`;
      const fix = 'make room, or name another folder with --logs';
      throw new ThroughlineError('config_invalid', `${why}: ${fix}`, { cause });
    }
  }

  #writeAt(bytes: Uint8Array, position: number): void {
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(this.#file, bytes, written, bytes.length - written, position + written);
    }
  }
}

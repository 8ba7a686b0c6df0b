import type { NatsConnection } from 'nats';
import { Semaphore } from '../../runtime/semaphore.js';
import type { StoredStream } from './backup-manifest.js';
import { removeCopy, writeCopy } from './stream-files.js';
import { snapshotStream } from './stream-snapshot.js';

export interface TransferProgress {
  readonly streams: number;
  readonly of: number;
  readonly bytes: number;
}

/** Streams that are copied at a time. */
const AT_ONCE = 4;

/** The copies of streams in the directory of a backup: one of each stream, the newest. */
export class StreamCopies {
  readonly #connection: NatsConnection;
  readonly #directory: string;
  readonly #onProgress: (progress: TransferProgress) => void;
  readonly #stored = new Map<string, StoredStream>();
  #files = 0;
  #bytes = 0;
  #expected = 0;

  constructor(
    connection: NatsConnection,
    directory: string,
    onProgress: (progress: TransferProgress) => void,
  ) {
    this.#connection = connection;
    this.#directory = directory;
    this.#onProgress = onProgress;
  }

  get stored(): StoredStream[] {
    return [...this.#stored.values()];
  }

  /** How many streams there are to copy. */
  expect(streams: number): void {
    this.#expected = streams;
    this.#tell();
  }

  /** Copies streams, a few at a time, in the place of their earlier copies. Of one that is not there, no copy stays. */
  copy(names: readonly string[]): Promise<void> {
    return fewAtATime(names, (name) => this.#copy(name));
  }

  /** Removes all copies. */
  async clear(): Promise<void> {
    for (const name of [...this.#stored.keys()]) await this.#remove(name);
  }

  async #copy(name: string): Promise<void> {
    this.#files += 1;
    const file = `${String(this.#files).padStart(6, '0')}-${name}.snapshot`;
    const { result, ...written } = await writeCopy(this.#directory, file, (write) =>
      snapshotStream(this.#connection, name, async (piece) => {
        await write(piece);
        this.#bytes += piece.length;
        this.#tell();
      }),
    );
    await this.#remove(name);
    // Removed since it was listed.
    if (result === undefined) return removeCopy(this.#directory, file);
    const { config, state } = result;
    const { first_seq: firstSequence, last_seq: lastSequence, messages } = state;
    this.#stored.set(name, { name, file, config, firstSequence, lastSequence, messages, ...written });
    this.#tell();
  }

  async #remove(name: string): Promise<void> {
    const before = this.#stored.get(name);
    if (before === undefined) return;
    this.#stored.delete(name);
    await removeCopy(this.#directory, before.file);
  }

  #tell(): void {
    const streams = this.#stored.size;
    this.#onProgress({ streams, of: Math.max(streams, this.#expected), bytes: this.#bytes });
  }
}

/** Does it for each name, a few at a time. After a first failure no further one begins. */
export async function fewAtATime(
  names: readonly string[],
  work: (name: string) => Promise<void>,
): Promise<void> {
  const turns = new Semaphore(AT_ONCE);
  let failed = false;
  await Promise.all(
    names.map((name) =>
      turns.run(async () => {
        if (failed) return;
        await work(name).catch((error: unknown) => {
          failed = true;
          throw error;
        });
      }),
    ),
  );
}

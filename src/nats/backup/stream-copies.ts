import type { Msg, NatsConnection, StreamConfig, StreamState } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import { newInbox } from '../connection/connect-nats.js';
import { API, refusal, toThroughlineError } from '../connection/nats-errors.js';
import type { StoredStream } from './backup-manifest.js';
import { removeCopy, transferGuard, writeCopy } from './stream-files.js';

export interface TransferProgress {
  readonly streams: number;
  readonly of: number;
  readonly bytes: number;
}

const AT_ONCE = 4;

/** The newest copy of each stream in the directory of a backup. */
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

  expect(streams: number): void {
    this.#expected = streams;
    this.#tell();
  }

  /** Copies streams, a few at a time, and replaces earlier copies. Removes the copy of a stream that no longer exists. */
  copy(names: readonly string[]): Promise<void> {
    return fewAtATime(names, (name) => this.#copy(name));
  }

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
    // The stream was removed since it was listed.
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

/** Runs work for each name, a few at a time. Starts nothing after the first failure. */
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

/**
 * A copy of one stream in JetStream's own format, with sequences, times and headers. The client lacks this call.
 *
 * The reply to `$JS.API.STREAM.SNAPSHOT.<stream>` describes the stream. Its bytes arrive in chunks on a subject of ours. Each
 * chunk has a reply subject that ends with its size and number and must be acknowledged (flow control by a window); the last
 * chunk may have none. An empty message ends the copy: with a status of 400 or more it is incomplete. A short copy may be
 * complete before the reply arrives.
 */
interface CopiedStream {
  readonly config: StreamConfig;
  /** State when the copy began. */
  readonly state: StreamState;
}

const CHUNK_BYTES = 128 * 1024;
/** Bytes in flight, and so in memory, per stream. */
const WINDOW_BYTES = 2 * 1024 * 1024;
/** Longest wait for the next chunk; the server gives up after five seconds without an acknowledgement. */
const SILENCE_MS = 30_000;

/**
 * Copies a stream without its consumers.
 *
 * @param write stores a chunk, which is acknowledged when it resolves
 * @returns `undefined` if the stream does not exist
 * @throws ThroughlineError `unavailable` if the server or the connection is lost, `permission_denied`
 */
export async function snapshotStream(
  connection: NatsConnection,
  stream: string,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<CopiedStream | undefined> {
  const doing = `copying stream ${stream}`;
  const request = `$JS.API.STREAM.SNAPSHOT.${stream}`;
  const [answers, chunks] = [newInbox(connection), newInbox(connection)];
  const acks = `$JS.SNAPSHOT.ACK.${stream}.`;
  const guard = transferGuard(
    connection,
    doing,
    SILENCE_MS,
    (subject) => subject === request || subject.startsWith(acks),
  );
  let copied: CopiedStream | 'missing' | undefined;
  let writing = Promise.resolve();
  let number = 0;
  let isWhole = false;
  let finish: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    finish = resolve;
  });
  // The server sends both independently: a short copy may arrive before its description.
  const look = () => {
    if (copied === 'missing' || (isWhole && copied !== undefined)) finish();
  };
  const take = (message: Msg) => {
    guard.heard();
    const { data, reply, headers } = message;
    if (data.length === 0) {
      const status = headers?.code ?? 0;
      if (status >= 400) return guard.fail(cutOff(doing, `${status} ${headers?.description}`));
      isWhole = true;
      return look();
    }
    number += 1;
    // The server would not notice a lost chunk.
    if (reply && Number(reply.split('.').at(-1)) !== number)
      return guard.fail(cutOff(doing, `chunk ${number} is missing`));
    writing = writing.then(async () => {
      await write(data);
      if (reply) message.respond();
    });
    writing.catch(guard.fail);
  };
  const subscriptions = [
    connection.subscribe(answers, {
      callback(error, message) {
        if (error) return guard.fail(error);
        guard.heard();
        try {
          copied = answerIn(message, doing);
          look();
        } catch (fault) {
          guard.fail(fault);
        }
      },
    }),
    connection.subscribe(chunks, {
      callback: (error, message) => (error ? guard.fail(error) : take(message)),
    }),
  ];
  try {
    const wanted = {
      deliver_subject: chunks,
      no_consumers: true,
      chunk_size: CHUNK_BYTES,
      window_size: WINDOW_BYTES,
    };
    connection.publish(request, JSON.stringify(wanted), { reply: answers });
    await Promise.race([ended, guard.failed]);
    await Promise.race([writing, guard.failed]);
    return copied === 'missing' ? undefined : copied;
  } catch (error) {
    throw toThroughlineError(error, doing);
  } finally {
    guard.release();
    if (!connection.isClosed()) for (const each of subscriptions) each.unsubscribe();
  }
}

function cutOff(doing: string, why: string): ThroughlineError {
  return new ThroughlineError('unavailable', `${doing}: the server ended the copy early (${why})`);
}

interface SnapshotAnswer extends Partial<CopiedStream> {
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

function answerIn(message: Msg, doing: string): CopiedStream | 'missing' {
  if (message.headers?.code === 503)
    throw new ThroughlineError('unavailable', `${doing}: JetStream does not answer`);
  const { config, state, error } = message.json<SnapshotAnswer>();
  if (error?.err_code === API.streamNotFound) return 'missing';
  if (error !== undefined)
    throw refusal(doing, { code: error.err_code, text: error.description ?? 'refused' });
  if (config === undefined || state === undefined) throw cutOff(doing, 'its description cannot be read');
  return { config, state };
}

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

/**
 * A copy of one stream as JetStream itself makes it, with sequences, times and headers. The client has no such call.
 *
 * The answer to `$JS.API.STREAM.SNAPSHOT.<stream>` says what the stream was at that moment. Its bytes then come to a
 * subject of ours in chunks. Each has a reply subject, which ends with its size and its number, and is acknowledged
 * there; the server keeps no more than a window of them unacknowledged. The last chunk may come without one. An empty
 * message ends the copy: with a status of 400 or more it is not whole. Of a short one, all this may be here before the answer.
 */
interface CopiedStream {
  readonly config: StreamConfig;
  /** What the stream was when the copy began. */
  readonly state: StreamState;
}

const CHUNK_BYTES = 128 * 1024;
/** What may be on its way, and so in memory, of one stream. */
const WINDOW_BYTES = 2 * 1024 * 1024;
/** Longest wait for the next chunk: the server itself gives up after five seconds without an acknowledgement. */
const SILENCE_MS = 30_000;

/**
 * Copies a stream, without its consumers.
 *
 * @param write takes each chunk; the next is acknowledged when it resolves
 * @returns `undefined` where there is no such stream
 * @throws ThroughlineError `unavailable` when the server or the connection is lost, `permission_denied`
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
  // The server sends both on ways of their own: a short copy may be here before its description.
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
    // One that was lost on the way would leave a hole that the server does not know of.
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

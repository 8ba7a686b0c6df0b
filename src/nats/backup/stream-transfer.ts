import type { NatsConnection, StreamConfig, StreamState } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { newInbox, onConnectionState } from '../connection/connect-nats.js';
import { API, refusal, toThroughlineError } from '../connection/nats-errors.js';

export type NamedConfig = Partial<StreamConfig> & { readonly name: string };

/** A copy of one stream in JetStream's own format, with sequences, times and headers. The client lacks both calls. */
interface StreamCopy {
  readonly config: NamedConfig;
  /** State when the copy began. */
  readonly state: Pick<StreamState, 'first_seq' | 'last_seq' | 'messages'>;
}

const CHUNK_BYTES = 128 * 1024;
/** Bytes in flight, and so in memory, of a copy. */
const WINDOW_BYTES = 2 * 1024 * 1024;
/** Chunks in flight of a restore: enough to hide the round trip. */
const WINDOW = 16;
/** Longest wait for the next chunk; the server gives up after five seconds without one. */
const SILENCE_MS = 30_000;
/** Deadline of the server's work at the end of a large stream. */
const END_MS = 10 * 60_000;

/**
 * Copies a stream without its consumers, by `$JS.API.STREAM.SNAPSHOT.<stream>`. The reply describes the stream; its bytes arrive
 * on a subject of ours, perhaps earlier. Each chunk has a reply subject that ends with its number and must be acknowledged
 * (flow control). An empty message ends the copy; with a status of 400 or more it is incomplete.
 *
 * @param write stores a chunk, which is acknowledged when it resolves
 * @returns `undefined` if the stream does not exist
 * @throws ThroughlineError `unavailable` if the server or the connection is lost, `permission_denied`
 */
export async function snapshotStream(
  connection: NatsConnection,
  stream: string,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<StreamCopy | undefined> {
  const doing = `copying stream ${stream}`;
  const inbox = newInbox(connection);
  const chunks = connection.subscribe(inbox);
  const end = () => chunks.unsubscribe();
  const silence = setTimeout(end, SILENCE_MS);
  const unwatch = onConnectionState(connection, (isConnected) => {
    if (!isConnected) end();
  });
  try {
    const sizes = { chunk_size: CHUNK_BYTES, window_size: WINDOW_BYTES };
    const wanted = JSON.stringify({ deliver_subject: inbox, no_consumers: true, ...sizes });
    const subject = `$JS.API.STREAM.SNAPSHOT.${stream}`;
    const { config, state, error } = await requestAnswer(connection, subject, wanted);
    if (error?.err_code === API.streamNotFound) return undefined;
    if (error !== undefined) throw refused(doing, error);
    let number = 0;
    for await (const { data, reply, headers } of chunks) {
      silence.refresh();
      if (data.length > 0) {
        number += 1;
        // The server would not notice a lost chunk. The last one may have no reply subject.
        if (reply && Number(reply.split('.').at(-1)) !== number)
          throw cutOff(doing, `chunk ${number} is missing`);
        await write(data);
        if (reply) connection.publish(reply);
      } else if ((headers?.code ?? 0) >= 400) throw cutOff(doing, `${headers?.code} ${headers?.description}`);
      else if (config !== undefined && state !== undefined) return { config, state };
    }
    throw cutOff(doing, 'it or the connection was lost');
  } catch (error) {
    throw toThroughlineError(error, doing);
  } finally {
    clearTimeout(silence);
    unwatch();
    end();
  }
}

/**
 * Restores a stream by `$JS.API.STREAM.RESTORE.<stream>`. The reply names a subject for the chunks, in order, each of which is
 * acknowledged; an empty chunk ends the copy and is answered with the stream or an error. After five seconds without a chunk
 * the server silently gives up, and may leave an incomplete stream.
 *
 * @param bytes the copy, in pieces of any size
 * @returns the state of the restored stream
 * @throws ThroughlineError `config_invalid` if another stream has its subjects, `store_full`, `unavailable` if the server or
 * the connection is lost, `permission_denied`, `internal` with the server's text for an unusable copy
 */
export async function restoreStream(
  connection: NatsConnection,
  { config, state }: StreamCopy,
  bytes: AsyncIterable<Uint8Array>,
): Promise<StreamState> {
  const doing = `restoring stream ${config.name}`;
  const ask = async (subject: string, body: Uint8Array | string, timeoutMs?: number) => {
    const answer = await requestAnswer(connection, subject, body, timeoutMs);
    if (answer.error !== undefined) throw refused(doing, answer.error);
    return answer;
  };
  try {
    const begin = JSON.stringify({ config, state });
    const { deliver_subject: subject } = await ask(`$JS.API.STREAM.RESTORE.${config.name}`, begin);
    if (subject === undefined) throw new ThroughlineError('internal', `${doing}: no subject takes the copy`);
    const most = Math.min(CHUNK_BYTES, connection.info?.max_payload ?? CHUNK_BYTES);
    const inFlight: Promise<unknown>[] = [];
    for await (const piece of bytes) {
      for (let at = 0; at < piece.length; at += most) {
        const sent = ask(subject, piece.subarray(at, at + most));
        // It may fail while an earlier one is awaited.
        sent.catch(() => {});
        inFlight.push(sent);
        if (inFlight.length >= WINDOW) await inFlight.shift();
      }
    }
    await Promise.all(inFlight);
    const made = await ask(subject, new Uint8Array(), END_MS);
    if (made.state === undefined) throw new ThroughlineError('internal', `${doing}: nothing was made`);
    return made.state;
  } catch (error) {
    throw toThroughlineError(error, doing);
  }
}

interface Answer {
  readonly config?: StreamConfig;
  readonly state?: StreamState;
  readonly deliver_subject?: string;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

async function requestAnswer(
  connection: NatsConnection,
  subject: string,
  body: Uint8Array | string,
  timeout = SILENCE_MS,
): Promise<Answer> {
  const message = await connection.request(subject, body, { timeout });
  return message.data.length === 0 ? {} : message.json<Answer>();
}

function refused(doing: string, { err_code: code, description = 'refused' }: NonNullable<Answer['error']>) {
  return refusal(doing, { code, text: description });
}

function cutOff(doing: string, why: string): ThroughlineError {
  return new ThroughlineError('unavailable', `${doing}: the server ended the copy early (${why})`);
}

import type { Msg, NatsConnection, StreamConfig, StreamState } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { newInbox } from '../connection/connect-nats.js';
import { refusal, toThroughlineError } from '../connection/nats-errors.js';
import { transferGuard } from './stream-files.js';

/**
 * Restores one stream by `$JS.API.STREAM.RESTORE.<stream>`. The reply names a subject for the chunks, in order. Each chunk is
 * acknowledged by an empty message; an empty chunk ends the copy and is answered with the stream or an error. After five
 * seconds without a chunk the server silently gives up, and may leave an incomplete stream.
 */

const CHUNK_BYTES = 128 * 1024;
/** Chunks in flight: enough to hide the round trip. */
const WINDOW = 16;
const SILENCE_MS = 30_000;
/** Deadline of the server's work at the end of a large stream. */
const END_MS = 10 * 60_000;

interface CopyToRestore {
  readonly config: StreamConfig;
  readonly state: Pick<StreamState, 'first_seq' | 'last_seq' | 'messages'>;
}

/**
 * @param bytes the copy, in pieces of any size
 * @returns the state of the restored stream
 * @throws ThroughlineError `config_invalid` if another stream has its subjects, `store_full`, `unavailable` if the server or
 * the connection is lost, `permission_denied`, `internal` with the server's text for an unusable copy
 */
export async function restoreStream(
  connection: NatsConnection,
  { config, state }: CopyToRestore,
  bytes: AsyncIterable<Uint8Array>,
): Promise<StreamState> {
  const doing = `restoring stream ${config.name}`;
  const request = `$JS.API.STREAM.RESTORE.${config.name}`;
  const target = `$JS.SNAPSHOT.RESTORE.${config.name}.`;
  const inbox = `${newInbox(connection)}.`;
  const guard = transferGuard(
    connection,
    doing,
    SILENCE_MS,
    (subject) => subject === request || subject.startsWith(target),
  );
  /** Pending replies by the last token of their reply subject. */
  const waiting = new Map<string, (answer: Answer) => void>();
  const take = (message: Msg) => {
    guard.heard();
    const key = message.subject.slice(inbox.length);
    const settle = waiting.get(key);
    waiting.delete(key);
    try {
      settle?.(answerIn(message, doing));
    } catch (error) {
      guard.fail(error);
    }
  };
  const subscription = connection.subscribe(`${inbox}*`, {
    callback: (error, message) => (error ? guard.fail(error) : take(message)),
  });
  const ask = (subject: string, data: Uint8Array | string, key: string): Promise<Answer> =>
    new Promise((resolve) => {
      waiting.set(key, resolve);
      connection.publish(subject, data, { reply: inbox + key });
    });
  try {
    const begun = await Promise.race([
      ask(request, JSON.stringify({ config, state }), 'begin'),
      guard.failed,
    ]);
    const { deliver_subject: subject } = begun;
    if (subject === undefined) throw new ThroughlineError('internal', `${doing}: no subject takes the copy`);
    const most = Math.min(CHUNK_BYTES, connection.info?.max_payload ?? CHUNK_BYTES);
    const unanswered = new Set<Promise<unknown>>();
    let number = 0;
    for await (const piece of bytes) {
      for (let at = 0; at < piece.length; at += most) {
        number += 1;
        const chunk = ask(subject, piece.subarray(at, at + most), String(number));
        unanswered.add(chunk);
        void chunk.then(() => unanswered.delete(chunk));
        if (unanswered.size >= WINDOW) await Promise.race([...unanswered, guard.failed]);
      }
    }
    await Promise.race([Promise.all(unanswered), guard.failed]);
    guard.heard(END_MS);
    const made = await Promise.race([ask(subject, new Uint8Array(), 'end'), guard.failed]);
    if (made.state === undefined) throw new ThroughlineError('internal', `${doing}: nothing was made`);
    return made.state;
  } catch (error) {
    throw toThroughlineError(error, doing);
  } finally {
    guard.release();
    if (!connection.isClosed()) subscription.unsubscribe();
  }
}

interface Answer {
  readonly deliver_subject?: string;
  readonly state?: StreamState;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

function answerIn(message: Msg, doing: string): Answer {
  if (message.headers?.code === 503)
    throw new ThroughlineError('unavailable', `${doing}: the server no longer accepts it`);
  if (message.data.length === 0) return {};
  const answer = message.json<Answer>();
  const { error } = answer;
  if (error === undefined) return answer;
  throw refusal(doing, { code: error.err_code, text: error.description ?? 'refused' });
}

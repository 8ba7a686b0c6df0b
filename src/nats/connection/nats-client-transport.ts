import { type Msg, ErrorCode as NatsCode, type NatsConnection, NatsError, ServiceError } from 'nats';
import { isErrorCode } from '../../contracts/error-codes.js';
import { ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM, REPLY_VERSION, REPLY_VERSION_HEADER } from '../../contracts/names.js';
import type { ClientTransport, LiveTransport } from '../../engine/ports/client-transport.js';
import { isObject, jsonOf } from '../../shared/text.js';
import { AckedPublisher } from '../jetstream/acked-publisher.js';
import {
  closeConnection,
  connectNats,
  listenerOn,
  type NatsConnectOptions,
  onConnectionState,
  watchConnection,
} from './connect-nats.js';
import { shownAddress } from './nats-access.js';
import { isNoResponders, toThroughlineError } from './nats-errors.js';

/** A client transport on an open connection; `close` drains it unless it belongs to the caller. */
export function natsTransport(
  connection: NatsConnection,
  publishTimeoutMs: number,
  { closes = true }: { readonly closes?: boolean } = {},
): ClientTransport {
  const publisher = new AckedPublisher(connection, publishTimeoutMs);
  return {
    async publish(subject, body, messageId) {
      const options = { messageId, stream: DISPATCH_STREAM };
      const published = await publisher.publish(subject, body, options);
      if (published.outcome === 'stored') {
        const { sequence, duplicate } = published;
        return { sequence, duplicate };
      }
      throw new ThroughlineError(
        'unavailable',
        `no stream takes ${subject}: start Throughline on this server with "throughline up"; where a backup is being restored, wait for its end`,
      );
    },
    request(subject, body, timeoutMs) {
      return requestJson(connection, subject, body, timeoutMs);
    },
    listen(subjects, onMessage) {
      const callback = (denied: Error | null) => denied ?? onMessage();
      const listening = subjects.map((subject) => connection.subscribe(subject, { callback }));
      return () => {
        if (!connection.isClosed()) for (const subscription of listening) subscription.unsubscribe();
      };
    },
    async close() {
      publisher.close();
      if (closes) await closeConnection(connection);
    },
  };
}

/** Sends a request to a service and returns the JSON of its reply. Throws as `ClientTransport`. */
async function requestJson(
  connection: NatsConnection,
  subject: string,
  body: unknown,
  timeoutMs: number,
): Promise<unknown> {
  const message = await connection
    .request(subject, JSON.stringify(body), { timeout: timeoutMs })
    .catch((error: unknown) => {
      if (error instanceof NatsError && error.code === NatsCode.Timeout)
        throw new ThroughlineError(
          'unavailable',
          `${subject}: no answer within ${timeoutMs} ms: "throughline doctor" says what does not answer`,
          { cause: error },
        );
      if (!isNoResponders(error)) throw toThroughlineError(error, subject);
      throw new ThroughlineError(
        'unavailable',
        `no service answers ${subject}: start the services with "throughline up" or "throughline admin serve"; where a backup is being restored, wait for its end`,
      );
    });
  const failure = ServiceError.toServiceError(message);
  if (failure !== null) throw replyError(message, failure);
  const version = message.headers?.get(REPLY_VERSION_HEADER) || REPLY_VERSION;
  if (version !== REPLY_VERSION)
    throw new ThroughlineError(
      'reply_invalid',
      `the service answered ${subject} in version ${version}, and this client reads version ${REPLY_VERSION}: use the same version on both sides`,
    );
  const reply = jsonOf(message.data);
  if (reply === undefined)
    throw new ThroughlineError(
      'internal',
      `${subject}: the answer is not JSON. Does another service listen there?`,
    );
  return reply;
}

function replyError({ data }: Msg, failure: ServiceError): ThroughlineError {
  const reply = jsonOf(data);
  const { code, message: text, details } = isObject(reply) && isObject(reply.error) ? reply.error : {};
  if (typeof text !== 'string') return new ThroughlineError('internal', failure.message);
  return new ThroughlineError(isErrorCode(code) ? code : 'internal', text, {
    ...(isObject(details) && { details }),
  });
}

/** Opens a transport with its own connection. Throws as `connectNats`. */
export async function openLiveTransport(options: NatsConnectOptions): Promise<LiveTransport> {
  const connection = await connectNats(options);
  const state = watchConnection(connection);
  const server = shownAddress(options.url);
  return {
    server,
    isConnected: () => state().connected,
    onState: (listener) => onConnectionState(connection, listener),
    async request(subject, body, timeoutMs) {
      if (state().connected) return requestJson(connection, subject, body, timeoutMs);
      throw new ThroughlineError(
        'unavailable',
        `NATS cannot be reached at ${server}: it is tried again all the time`,
      );
    },
    listen: listenerOn(connection),
    close: () => closeConnection(connection),
  };
}

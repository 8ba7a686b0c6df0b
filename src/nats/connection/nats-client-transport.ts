import { type NatsConnection, ServiceError, type ServiceMsg } from 'nats';
import { isErrorCode } from '../../contracts/error-codes.js';
import { ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM } from '../../contracts/names.js';
import type { ClientTransport } from '../../ports/client-transport.js';
import { AckedPublisher } from '../jetstream/acked-publisher.js';
import { closeConnection } from './connect-nats.js';
import { isNoResponders, toThroughlineError } from './nats-errors.js';

/** Reaches Throughline over an open connection, which `close` drains unless it belongs to the caller. */
export function natsTransport(
  connection: NatsConnection,
  publishTimeoutMs: number,
  { closes = true }: { readonly closes?: boolean } = {},
): ClientTransport {
  const publisher = new AckedPublisher(connection, publishTimeoutMs);
  return {
    async publish(subject, body, messageId) {
      const published = await publisher.publish(subject, body, { messageId, stream: DISPATCH_STREAM });
      if (published.outcome === 'stored') {
        const { sequence, duplicate } = published;
        return { sequence, duplicate };
      }
      throw new ThroughlineError(
        'unavailable',
        `no stream takes ${subject}: start Throughline on this server with "throughline up"`,
      );
    },
    request: (subject, body, timeoutMs) => requestJson(connection, subject, body, timeoutMs),
    send(subject, body) {
      try {
        connection.publish(subject, JSON.stringify(body));
      } catch (error) {
        throw toThroughlineError(error, subject);
      }
    },
    async close() {
      publisher.close();
      if (closes) await closeConnection(connection);
    },
  };
}

/** Asks a service, and gives the JSON of its answer. Throws as `ClientTransport` says. */
export async function requestJson(
  connection: NatsConnection,
  subject: string,
  body: unknown,
  timeoutMs: number,
): Promise<unknown> {
  const message = await connection
    .request(subject, JSON.stringify(body), { timeout: timeoutMs })
    .catch((error: unknown) => {
      if (!isNoResponders(error)) throw toThroughlineError(error, subject);
      throw new ThroughlineError(
        'unavailable',
        `no service answers ${subject}: start the services with "throughline up" or "throughline serve"`,
      );
    });
  const failure = ServiceError.toServiceError(message);
  if (failure !== null) throw replyError(message, failure);
  const reply = jsonOf(message);
  if (reply === undefined)
    throw new ThroughlineError(
      'internal',
      `${subject}: the answer is not JSON. Does another service listen there?`,
    );
  return reply;
}

function replyError(message: Pick<ServiceMsg, 'json'>, failure: ServiceError): ThroughlineError {
  const { code, message: text, details } = fields(fields(jsonOf(message)).error);
  if (typeof text !== 'string') return new ThroughlineError('internal', failure.message);
  return new ThroughlineError(isErrorCode(code) ? code : 'internal', text, {
    ...(details !== undefined && { details: fields(details) }),
  });
}

/** The fields of a JSON object; none of any other value. */
function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function jsonOf(message: Pick<ServiceMsg, 'json'>): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}

import type { NatsConnection, ServiceMsg } from 'nats';
import type { ErrorCode } from '../contracts/error-codes.js';
import { ThroughlineError } from '../errors.js';
import type { Logger } from '../ports/logger.js';
import { clipText, oneLine } from '../text.js';
import { toThroughlineError } from './errors.js';

/** A NATS micro service whose endpoints take and give JSON, found by `nats micro ls`. */
export interface ServiceOptions {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
  readonly logger: Logger;
}

export interface Endpoint {
  readonly name: string;
  readonly subject: string;
  readonly description: string;
  /** From a request's JSON to the reply's. What it throws becomes an error reply. */
  readonly handle: (request: unknown) => Promise<unknown>;
  /** What the statistics of the endpoint show beside requests and errors. */
  readonly stats?: () => unknown;
}

export interface RunningService {
  /** Takes no further requests and waits until those in hand are answered. */
  stop(): Promise<void>;
}

/** Numbers of the micro error header, in the manner of HTTP: 4xx is the caller's, 5xx is not. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  schema_invalid: 400,
  json_parse_failed: 400,
  token_invalid: 400,
  template_invalid: 400,
  prompt_overflow: 413,
  progress_ledger_missing_tasks: 404,
  progress_ledger_parse_failed: 422,
  not_found: 404,
  ambiguous: 409,
  duplicate: 409,
  cycle: 409,
  open_tasks: 409,
  session_completed: 409,
  summary_exists: 409,
  conflict: 409,
  not_caught_up: 409,
  too_large: 413,
  unavailable: 503,
};

/** Characters of an error's text in the header, and in a reply that could not be sent whole. */
const MAX_ERROR_TEXT = 500;

export async function startService(
  connection: NatsConnection,
  options: ServiceOptions,
): Promise<RunningService> {
  const { name, version, description, logger } = options;
  const service = await connection.services.add({
    name,
    version,
    description,
    statsHandler: async ({ subject }) =>
      options.endpoints.find((each) => each.subject === subject)?.stats?.() ?? null,
  });
  const inHand = new Set<Promise<void>>();
  for (const endpoint of options.endpoints) {
    service.addEndpoint(endpoint.name, {
      subject: endpoint.subject,
      metadata: { description: endpoint.description },
      // The client knows no asynchronous handlers: one that throws would leave its caller without an answer.
      handler: (error, message) => {
        if (error) {
          logger.error({ endpoint: endpoint.name, err: error }, 'service subscription failed');
          return;
        }
        const answered = answer(endpoint, message, connection, logger).finally(() => inHand.delete(answered));
        inHand.add(answered);
      },
    });
  }
  return {
    async stop() {
      await service.stop();
      await Promise.all(inHand);
    },
  };
}

async function answer(
  endpoint: Endpoint,
  message: ServiceMsg,
  connection: NatsConnection,
  logger: Logger,
): Promise<void> {
  try {
    const reply = JSON.stringify(await endpoint.handle(parsed(message)));
    const limit = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (Buffer.byteLength(reply) > limit) {
      throw new ThroughlineError(
        'too_large',
        `the reply is over the server's limit of ${limit} bytes: ask for less`,
      );
    }
    message.respond(reply);
  } catch (thrown) {
    const error = toThroughlineError(thrown, endpoint.name);
    const fields = { endpoint: endpoint.name, code: error.code, err: error };
    if (error.code === 'internal') logger.error(fields, 'request failed');
    else logger.debug(fields, 'request refused');
    respondError(message, error, logger);
  }
}

function respondError(message: ServiceMsg, error: ThroughlineError, logger: Logger): void {
  const { code, details } = error;
  try {
    sendError(message, { code, message: error.message, ...(details && { details }) });
  } catch (failure) {
    logger.warn({ err: failure, code }, 'an error reply could not be sent whole');
    try {
      sendError(message, { code, message: clipText(error.message, MAX_ERROR_TEXT) });
    } catch (closed) {
      logger.warn({ err: closed, code }, 'an error reply could not be sent');
    }
  }
}

function sendError(message: ServiceMsg, error: Pick<ThroughlineError, 'code' | 'message'>): void {
  const description = `${error.code}: ${clipText(oneLine(error.message), MAX_ERROR_TEXT)}`;
  message.respondError(STATUS[error.code] ?? 500, description, Buffer.from(JSON.stringify({ error })));
}

function parsed(message: ServiceMsg): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(message.data));
  } catch (cause) {
    throw new ThroughlineError('json_parse_failed', 'the request is not JSON: send one JSON object', {
      cause,
    });
  }
}

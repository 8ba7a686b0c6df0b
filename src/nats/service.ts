import type { NatsConnection, Service, ServiceMsg } from 'nats';
import type { ErrorCode } from '../contracts/error-codes.js';
import { healthSubject, isToken } from '../contracts/names.js';
import { ThroughlineError } from '../errors.js';
import type { Logger } from '../ports/logger.js';
import { clipText, oneLine } from '../text.js';
import { onDenied } from './denials.js';
import { toThroughlineError } from './errors.js';
import { keepService } from './kept-service.js';

/** A NATS micro service whose endpoints take and give JSON, found by `nats micro ls`. */
export interface ServiceOptions {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
  readonly logger: Logger;
  /** Largest request and reply, in bytes. Default: what the server takes. */
  readonly maxRequestBytes?: number;
  readonly maxReplyBytes?: number;
}

/** The sizes that a configuration allows. */
export function limitsOf({
  maxRequestBytes,
  maxReplyBytes,
}: Required<Pick<ServiceOptions, 'maxRequestBytes' | 'maxReplyBytes'>>) {
  return { maxRequestBytes, maxReplyBytes };
}

export interface Endpoint {
  readonly name: string;
  readonly subject: string;
  readonly description: string;
  /** From a request's JSON to the reply's. What it throws becomes an error reply. */
  readonly handle: (request: unknown) => Promise<unknown>;
  /** Whether a request names its session: it may then also come to `<subject>.<session>`, for that one alone. */
  readonly bySession?: boolean;
  /** What a caller can ask less of, for a reply that is too large: `maxFacts or maxTokens`. */
  readonly lower?: string;
  /** What the statistics of the endpoint show beside requests and errors. */
  readonly stats?: () => unknown;
}

/** The endpoint `health.<service>`; the statistics of the service show the same. */
export function healthEndpoint(service: string, health: () => Promise<object>): Endpoint {
  return {
    name: 'health',
    subject: healthSubject(service),
    description: 'how this instance does',
    handle: health,
    stats: health,
  };
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
  permission_denied: 403,
  rate_limited: 429,
  unavailable: 503,
};

/** Characters of an error's text in the header, and in a reply that could not be sent whole. */
const MAX_ERROR_TEXT = 500;

/**
 * Starts a service; it answers when this resolves.
 *
 * @throws ThroughlineError `permission_denied` when the user may not listen to one of its subjects
 */
export async function startService(
  connection: NatsConnection,
  options: ServiceOptions,
): Promise<RunningService> {
  const { name, logger } = options;
  const inHand = new Set<Promise<void>>();
  const start = () => listen(connection, options, inHand);
  const stop = await keepService({ connection, name, logger, start });
  return {
    async stop() {
      await stop();
      await Promise.all(inHand);
    },
  };
}

/** Starts a service once. Its requests are in `inHand` until they are answered. */
async function listen(
  connection: NatsConnection,
  options: ServiceOptions,
  inHand: Set<Promise<void>>,
): Promise<Service> {
  const { name, version, description } = options;
  const denied: ThroughlineError[] = [];
  const listening = onDenied(connection, ({ operation, fault }) => {
    if (operation === 'subscription') denied.push(fault);
  });
  const service = await connection.services.add({
    name,
    version,
    description,
    statsHandler: async ({ subject }) =>
      options.endpoints.find((each) => each.subject === subject)?.stats?.() ?? null,
  });
  const endpoints = options.endpoints.flatMap((each) =>
    each.bySession ? [each, ofOneSession(each)] : [each],
  );
  for (const endpoint of endpoints) {
    service.addEndpoint(endpoint.name, {
      subject: endpoint.subject,
      metadata: { description: endpoint.description },
      // The client knows no asynchronous handlers: one that throws would leave its caller without an answer.
      handler: (_, message) => {
        const answered = answer(endpoint, message, connection, options).finally(() =>
          inHand.delete(answered),
        );
        inHand.add(answered);
      },
    });
  }
  try {
    // Whatever is denied is told before the answer to this.
    await connection.flush();
    if (denied[0] !== undefined) throw denied[0];
  } catch (error) {
    await service.stop();
    throw error;
  } finally {
    listening();
  }
  return service;
}

function ofOneSession(endpoint: Endpoint): Endpoint {
  const { name, subject, description, handle, lower } = endpoint;
  return {
    name: `${name}-session`,
    subject: `${subject}.*`,
    description: `${description}; of one session`,
    handle,
    ...(lower !== undefined && { lower }),
  };
}

/** A caller that may only send to its own session's subject must not get at another through the body. */
function requireSession(subject: string, request: unknown): void {
  const named = subject.slice(subject.lastIndexOf('.') + 1);
  const given =
    typeof request === 'object' && request !== null && 'session' in request ? request.session : undefined;
  if (given === named) return;
  throw new ThroughlineError(
    'permission_denied',
    `session: the request names another session than its subject ${subject}`,
    { details: { field: 'session' } },
  );
}

/** What no other request would have been spared. */
const OUR_FAULTS: ReadonlySet<ErrorCode> = new Set(['internal', 'store_full']);

async function answer(
  endpoint: Endpoint,
  message: ServiceMsg,
  connection: NatsConnection,
  { maxRequestBytes, maxReplyBytes, logger }: ServiceOptions,
): Promise<void> {
  const taken = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
  let request: unknown;
  try {
    checkSize('request', message.data.length, Math.min(taken, maxRequestBytes ?? taken), 'send less');
    request = parsed(message);
    if (endpoint.subject.endsWith('.*')) requireSession(message.subject, request);
    const reply = JSON.stringify(await endpoint.handle(request));
    const limit = Math.min(taken, maxReplyBytes ?? taken);
    const less = endpoint.lower === undefined ? 'ask for less' : `ask for less by ${endpoint.lower}`;
    checkSize('reply', Buffer.byteLength(reply), limit, less);
    message.respond(reply);
  } catch (thrown) {
    const error = toThroughlineError(thrown, endpoint.name);
    const fields = { endpoint: endpoint.name, ...sessionNamed(request), code: error.code, err: error };
    if (OUR_FAULTS.has(error.code)) logger.error(fields, 'request failed');
    else logger.debug(fields, 'request refused');
    respondError(message, error, logger);
  }
}

/** The session of a request, for a log line; nothing where it names none that could be one. */
function sessionNamed(request: unknown): { readonly session?: string } {
  const named =
    typeof request === 'object' && request !== null && 'session' in request ? request.session : undefined;
  return isToken(named) ? { session: named } : {};
}

/** @throws ThroughlineError `too_large` that names the limit and what to do about it */
function checkSize(what: 'request' | 'reply', bytes: number, limit: number, advice: string): void {
  if (bytes <= limit) return;
  throw new ThroughlineError(
    'too_large',
    `the ${what} has ${bytes} bytes, the limit is ${limit}: ${advice}, or raise max_payload of the server and THROUGHLINE_MAX_${what.toUpperCase()}_BYTES`,
    { details: { bytes, limit } },
  );
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
  } catch {
    // Without the cause: it quotes from the request, and goes into logs.
    throw new ThroughlineError('json_parse_failed', 'the request is not JSON: send one JSON object');
  }
}

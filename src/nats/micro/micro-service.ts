import { headers, type NatsConnection, type Service, type ServiceMsg, type SubscriptionOptions } from 'nats';
import { z } from 'zod';
import { checkedRequest } from '../../contracts/checked.js';
import type { ErrorCode } from '../../contracts/error-codes.js';
import { statusOf, ThroughlineError } from '../../contracts/errors.js';
import {
  beyondSession,
  healthSubject,
  isOwnSubject,
  REPLY_VERSION,
  REPLY_VERSION_HEADER,
  sessionIn,
} from '../../contracts/names.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { Backoff, limitedWarnings } from '../../engine/runtime/pacing.js';
import { defined } from '../../shared/collections.js';
import { clipText, isObject, oneLine } from '../../shared/text.js';
import { toThroughlineError } from '../connection/nats-errors.js';

/** A NATS micro service with JSON endpoints, listed by `nats micro ls`. */
interface ServiceOptions extends Omit<AnswerOptions, 'connection' | 'counts'> {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
}

export interface RunningService {
  /** Stops listening and waits for the requests in progress. */
  stop(): Promise<void>;
}

/** Starts a service and resolves when it listens. Throws ThroughlineError `permission_denied` if a subject is denied. */
export async function startService(
  connection: NatsConnection,
  options: ServiceOptions,
): Promise<RunningService> {
  const inHand = new Set<Promise<void>>();
  const counts = new EndpointCounts();
  const stop = await keepService(connection, options, () => listen(connection, options, { inHand, counts }));
  return {
    async stop() {
      await stop();
      await Promise.all(inHand);
    },
  };
}

/** Starts a service once. `inHand` contains its requests in progress. */
async function listen(
  connection: NatsConnection,
  options: ServiceOptions,
  { inHand, counts }: { readonly inHand: Set<Promise<void>>; readonly counts: EndpointCounts },
): Promise<Service> {
  const { name, version, description } = options;
  const service = await guardedServices(connection, options.logger).add({
    name,
    version,
    description,
    statsHandler: async (endpoint) => {
      counts.showIn(endpoint);
      return options.endpoints.find(({ subject }) => subject === endpoint.subject)?.stats?.() ?? null;
    },
  });
  const endpoints = options.endpoints.flatMap((endpoint) =>
    endpoint.bySession ? [endpoint, ofOneSession(endpoint)] : [endpoint],
  );
  try {
    for (const endpoint of endpoints) {
      service.addEndpoint(endpoint.name, {
        subject: endpoint.subject,
        metadata: { description: endpoint.description },
        // The client does not support asynchronous handlers: an exception would leave the caller without a reply.
        handler: (_, message) => {
          const answered = answer(endpoint, message, { ...options, connection, counts }).finally(() =>
            inHand.delete(answered),
          );
          inHand.add(answered);
        },
      });
    }
    keepDiscoverable(service, () => connection.info?.max_payload);
    // Denials arrive before the answer to the flush, and stop the service.
    await connection.flush();
    if (service.isStopped) throw toThroughlineError(await service.stopped, name);
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}

/**
 * Returns a connection whose services drop requests with one of our subjects as reply subject. NATS does not check reply
 * subjects, and the service may publish where its caller may not. This includes the client's own replies to `$SRV.PING`,
 * `$SRV.INFO` and `$SRV.STATS`.
 */
function guardedServices(connection: NatsConnection, logger: Logger): NatsConnection['services'] {
  const warn = limitedWarnings(logger, () => performance.now());
  const subscribe = (subject: string, options: SubscriptionOptions = {}) => {
    const { callback } = options;
    if (callback === undefined) return connection.subscribe(subject, options);
    return connection.subscribe(subject, {
      ...options,
      callback(error, message) {
        if (error !== null || message.reply === undefined || !isOwnSubject(message.reply)) {
          callback(error, message);
          return;
        }
        const fields = { code: 'permission_denied', subject: message.subject, reply: message.reply };
        warn(fields, 'request not answered: its reply subject is not for answers', subject);
      },
    });
  };
  const guarded: NatsConnection = Object.create(connection, {
    subscribe: { value: subscribe },
    // The client caches its services here, bound to the first connection.
    _services: { value: undefined, writable: true },
  });
  return guarded.services;
}

/**
 * Leaves the endpoints and the description out of a service's replies to `$SRV.INFO` and `$SRV.STATS` where they do not fit the server's largest
 * message: the client does not expect that sending fails, and the process would end.
 *
 * @param maxPayload returns the current limit in bytes
 */
function keepDiscoverable(service: Service, maxPayload: () => number | undefined): void {
  const info = service.info.bind(service);
  const stats = service.stats.bind(service);
  const fitting = <Reply extends object>(reply: Reply): Reply =>
    Buffer.byteLength(JSON.stringify(reply)) <= (maxPayload() ?? Number.POSITIVE_INFINITY)
      ? reply
      : { ...reply, ...('description' in reply && { description: '' }), endpoints: [] };
  service.info = () => fitting(info());
  service.stats = async () => fitting(await stats());
}

const FIRST_PAUSE_MS = 250;

/**
 * Starts a service, and restarts it with backoff when the client has stopped it: one denied subscription, as after a change of
 * permissions, stops all endpoints for good. Returns a function that stops it; throws the error of the first start.
 */
async function keepService(
  connection: NatsConnection,
  { name, logger }: ServiceOptions,
  start: () => Promise<Service>,
): Promise<() => Promise<void>> {
  const closing = new AbortController();
  let service = await start();

  async function restarted(): Promise<Service | undefined> {
    for (const backoff = new Backoff(FIRST_PAUSE_MS); ; ) {
      await backoff.pause(closing.signal);
      if (closing.signal.aborted || connection.isClosed()) return undefined;
      try {
        const again = await start();
        if (!closing.signal.aborted) return again;
        await again.stop();
      } catch (error) {
        const { code } = toThroughlineError(error, name);
        logger.warn({ service: name, code, err: error }, 'the service cannot be started again yet');
      }
    }
  }

  async function keep(): Promise<void> {
    for (;;) {
      const why = await service.stopped;
      if (closing.signal.aborted || connection.isClosed()) return;
      const code = why === null ? 'unavailable' : toThroughlineError(why, name).code;
      logger.error(
        { service: name, code, err: why },
        'the service may not listen any more: it is started again',
      );
      const again = await restarted();
      if (again === undefined) return;
      service = again;
      logger.info({ service: name }, 'the service listens again');
    }
  }

  const kept = keep();
  return async () => {
    closing.abort();
    await service.stop();
    await kept;
  };
}

const MAX_ERROR_TEXT = 500;

/** Errors caused by us or the server, not by the request. */
const OUR_FAULTS: ReadonlySet<ErrorCode> = new Set(['internal', 'store_full']);

const VERSIONED = headers();
VERSIONED.set(REPLY_VERSION_HEADER, REPLY_VERSION);
/** Bytes of the headers of a reply, which count as part of the message. */
export const REPLY_HEAD = Buffer.byteLength(`NATS/1.0\r\n${REPLY_VERSION_HEADER}: ${REPLY_VERSION}\r\n\r\n`);

export interface AnswerOptions {
  readonly connection: NatsConnection;
  readonly logger: Logger;
  readonly counts: EndpointCounts;
}

/** Answers one request, if necessary with an error reply. Never rejects. */
export async function answer(
  endpoint: Endpoint,
  message: ServiceMsg,
  { connection, logger, counts }: AnswerOptions,
): Promise<void> {
  let request: unknown;
  try {
    request = parsed(message);
    if (endpoint.subject.endsWith('.*')) requireSession(message.subject, request);
    const reply = JSON.stringify(await endpoint.handle(request));
    checkSize(REPLY_HEAD + Buffer.byteLength(reply), connection.info?.max_payload, endpoint.lower);
    message.respond(reply, { headers: VERSIONED });
  } catch (thrown) {
    const error = toThroughlineError(thrown, endpoint.name);
    const of = defined({ session: sessionIn(request) });
    const fields = { endpoint: endpoint.name, ...of, code: error.code, err: error };
    if (OUR_FAULTS.has(error.code)) logger.error(fields, 'request failed');
    else logger.debug?.(fields, 'request refused');
    counts.failed(endpoint.subject, error.code);
    respondError(message, error, logger);
  }
}

/** A caller that may only use its own session's subject must not reach beyond it by a field of the body. */
function requireSession(subject: string, request: unknown): void {
  const field = isObject(request) ? beyondSession(request) : undefined;
  if (field !== undefined)
    throw new ThroughlineError(
      'permission_denied',
      `${field}: on the subject of a session its own project counts, and a plan is sent as tasksText; leave it out, or send the request without the session in its subject`,
      { details: { field } },
    );
  if (sessionIn(request) === subject.split('.').at(-1)) return;
  throw new ThroughlineError(
    'permission_denied',
    `session: the body names another session than the subject ${subject}`,
    { details: { field: 'session' } },
  );
}

/** @throws ThroughlineError `too_large` with the limit and a fix */
function checkSize(bytes: number, limit = Number.POSITIVE_INFINITY, lower?: string): void {
  if (bytes <= limit) return;
  const advice = lower === undefined ? 'ask for less' : `ask for less by ${lower}`;
  throw new ThroughlineError(
    'too_large',
    `the reply has ${bytes} bytes, the limit is ${limit}: ${advice}, or raise max_payload of the server`,
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
  message.respondError(statusOf(error.code), description, Buffer.from(JSON.stringify({ error })));
}

function parsed(message: ServiceMsg): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(message.data));
  } catch {
    // Without the cause, which quotes the request and would be logged.
    throw new ThroughlineError('json_parse_failed', 'the request is not JSON: send one JSON object');
  }
}

/** Counts the errors of endpoints: the client counts only synchronous exceptions, so `nats micro stats` shows none. */
export class EndpointCounts {
  readonly #errors = new Map<string, { count: number; last: ErrorCode }>();

  failed(subject: string, code: ErrorCode): void {
    const count = (this.#errors.get(subject)?.count ?? 0) + 1;
    this.#errors.set(subject, { count, last: code });
  }

  /**
   * Copies the counts into the client's statistics of an endpoint, which it passes to the statistics handler before showing
   * them. Only error codes, because texts may quote confidential data.
   */
  showIn({ subject, stats }: { readonly subject: string; readonly stats?: ClientStats }): void {
    const errors = this.#errors.get(subject);
    if (errors === undefined || stats === undefined) return;
    stats.num_errors = errors.count;
    stats.last_error = errors.last;
  }
}

/** The client's type of an endpoint lacks its statistics. */
interface ClientStats {
  num_errors: number;
  last_error?: string | undefined;
}

export interface Endpoint {
  readonly name: string;
  readonly subject: string;
  readonly description: string;
  /** Handles the parsed request. Its error becomes an error reply. */
  readonly handle: (request: unknown) => Promise<unknown>;
  /** True if requests name their session: they may then also be sent to `<subject>.<session>`. */
  readonly bySession?: boolean;
  /** Advice for a reply that is too large: `maxFacts or maxTokens`. */
  readonly lower?: string;
  readonly stats?: () => unknown;
}

const withoutFields = z.object({});

/** Returns the endpoint `health.<service>`; the service's statistics show the same. */
export function healthEndpoint(service: string, health: () => Promise<object>): Endpoint {
  return {
    name: 'health',
    subject: healthSubject(service),
    description: 'health of this instance',
    handle: async (request) => {
      checkedRequest(withoutFields, request);
      return health();
    },
    stats: health,
  };
}

/** Returns the endpoint for a single session, on a subject that can be permitted individually. */
export function ofOneSession(endpoint: Endpoint): Endpoint {
  const { stats: _, bySession: _of, ...rest } = endpoint;
  const { name, subject, description } = endpoint;
  const named = { name: `${name}-session`, subject: `${subject}.*` };
  return { ...rest, ...named, description: `${description}; of one session` };
}

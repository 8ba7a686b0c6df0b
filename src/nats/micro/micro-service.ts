import type { NatsConnection, Service, SubscriptionOptions } from 'nats';
import { isOwnSubject } from '../../contracts/names.js';
import type { Logger } from '../../engine/ports/clients.js';
import { Backoff, limitedWarnings } from '../../engine/runtime/batched.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import {
  type AnswerOptions,
  answer,
  type Endpoint,
  EndpointCounts,
  ofOneSession,
  type RequestTotals,
} from './service-answer.js';

/** A NATS micro service with JSON endpoints, listed by `nats micro ls`. */
interface ServiceOptions extends Omit<AnswerOptions, 'connection' | 'counts'> {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
}

export interface RunningService {
  totals(): RequestTotals;
  /** True if requests arrive. */
  listens(): boolean;
  /** Stops listening and waits for the requests in progress. */
  stop(): Promise<void>;
}

/** Starts a service and resolves when it listens. Throws ThroughlineError `permission_denied` if a subject is denied. */
export async function startService(
  connection: NatsConnection,
  options: ServiceOptions,
): Promise<RunningService> {
  const { name, logger } = options;
  const inHand = new Set<Promise<void>>();
  const counts = new EndpointCounts();
  let latest: Service | undefined;
  const start = async () => {
    latest = await listen(connection, options, { inHand, counts });
    return latest;
  };
  const stop = await keepService({ connection, name, logger, start });
  return {
    totals: () => counts.totals(),
    listens: () => latest?.isStopped === false && !connection.isClosed(),
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
 * Makes a service's replies to `$SRV.INFO` and `$SRV.STATS` fit the server's largest message: the client does not expect that
 * sending fails, and the process would end. Drops the endpoints' statistics and descriptions first, then the endpoints.
 *
 * @param maxPayload returns the current limit in bytes
 */
function keepDiscoverable(service: Service, maxPayload: () => number | undefined): void {
  const info = service.info.bind(service);
  const stats = service.stats.bind(service);
  const fitting = <Reply extends object>(...candidates: readonly Reply[]): Reply | undefined => {
    const limit = maxPayload() ?? Number.POSITIVE_INFINITY;
    return (
      candidates.find((candidate) => Buffer.byteLength(JSON.stringify(candidate)) <= limit) ??
      candidates.at(-1)
    );
  };
  service.info = () => {
    const whole = info();
    const short = whole.endpoints.map(({ metadata: _, ...endpoint }) => endpoint);
    const { description: _, ...bare } = whole;
    return (
      fitting(whole, { ...whole, endpoints: short }, { ...bare, description: '', endpoints: [] }) ?? whole
    );
  };
  service.stats = async () => {
    const whole = await stats();
    const short = whole.endpoints?.map(({ data: _, ...endpoint }) => endpoint) ?? [];
    return fitting(whole, { ...whole, endpoints: short }, { ...whole, endpoints: [] }) ?? whole;
  };
}

const FIRST_PAUSE_MS = 250;

interface KeptServiceOptions {
  readonly connection: NatsConnection;
  readonly name: string;
  readonly logger: Logger;
  /** Starts the service and resolves when it listens. */
  readonly start: () => Promise<Service>;
}

/**
 * Starts a service, and restarts it with backoff whenever the client has stopped it: a single denied subscription, for example
 * after a change of permissions, stops all endpoints for good.
 *
 * @returns stops it
 * @throws the error of the first start
 */
async function keepService(options: KeptServiceOptions): Promise<() => Promise<void>> {
  const { connection, name, logger, start } = options;
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

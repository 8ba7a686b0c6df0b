import type { NatsConnection, Service, SubscriptionOptions } from 'nats';
import { isOwnSubject } from '../../contracts/names.js';
import type { Logger } from '../../ports/logger.js';
import { limitedWarnings } from '../../runtime/limited-warnings.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { keepService } from './kept-service.js';
import { type AnswerOptions, answer, EndpointCounts, type RequestTotals } from './service-answer.js';
import { keepDiscoverable } from './service-discovery.js';
import { type Endpoint, ofOneSession } from './service-endpoint.js';

/** A NATS micro service whose endpoints take and give JSON, found by `nats micro ls`. */
export interface ServiceOptions extends Omit<AnswerOptions, 'connection' | 'counts'> {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
}

export interface RunningService {
  /** What it has been asked since its start. */
  totals(): RequestTotals;
  /** Whether requests reach it now. */
  listens(): boolean;
  /** Takes no further requests and waits until those in hand are answered. */
  stop(): Promise<void>;
}

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

/** Starts a service once. Its requests are in `inHand` until they are answered. */
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
  const endpoints = options.endpoints.flatMap((each) =>
    each.bySession ? [each, ofOneSession(each)] : [each],
  );
  try {
    for (const endpoint of endpoints) {
      service.addEndpoint(endpoint.name, {
        subject: endpoint.subject,
        metadata: { description: endpoint.description },
        // The client knows no asynchronous handlers: one that throws would leave its caller without an answer.
        handler: (_, message) => {
          const answered = answer(endpoint, message, { ...options, connection, counts }).finally(() =>
            inHand.delete(answered),
          );
          inHand.add(answered);
        },
      });
    }
    keepDiscoverable(service, () => connection.info?.max_payload);
    // Whatever is denied is told before the answer to this, and the client stops the service for it.
    await connection.flush();
    if (service.isStopped) throw toThroughlineError(await service.stopped, name);
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}

/**
 * A connection whose services answer nobody on a subject of ours: such a request is dropped before anyone sees it. What
 * may write there is the service, not its caller, and NATS does not check a reply subject. That holds for the answers to
 * `$SRV.PING`, `$SRV.INFO` and `$SRV.STATS` as well, which the client gives by itself.
 */
export function guardedServices(connection: NatsConnection, logger: Logger): NatsConnection['services'] {
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
    // The client keeps its services here, made for the connection that first asked for them.
    _services: { value: undefined, writable: true },
  });
  return guarded.services;
}

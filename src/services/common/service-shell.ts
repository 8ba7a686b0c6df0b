import { checkedRequest } from '../../contracts/checked.js';
import { type Token, token } from '../../contracts/names.js';
import type { ReplyTo, RequestName, RequestValues } from '../../contracts/requests.js';
import { rowOf } from '../../contracts/requests.js';
import { scannerFor } from '../../memory/redaction/secretlint-scanner.js';
import type { NatsConnection } from '../../nats/connection/connect-nats.js';
import { startService } from '../../nats/micro/micro-service.js';
import { type Endpoint, healthEndpoint } from '../../nats/micro/service-answer.js';
import { VERSION } from '../../version.js';
import { guarded } from './request-guard.js';
import type { Serving } from './service-context.js';
import { healthOf, watchService } from './service-metrics.js';

/** The values of a request with their defaults; its session is checked. */
export type Asked<Name extends RequestName> =
  RequestValues<Name> extends { readonly session: string }
    ? Omit<RequestValues<Name>, 'session'> & { readonly session: Token }
    : RequestValues<Name>;

export type Handler<Name extends RequestName> = (asked: Asked<Name>) => Promise<ReplyTo<Name>>;
export type Handlers<Name extends RequestName> = { readonly [Each in Name]: Handler<Each> };

/** Checks a request by its row before its handler. */
export function checkedHandler<Name extends RequestName>(name: Name, handle: Handler<Name>) {
  const { request: schema } = rowOf(name);
  return async (request: unknown): Promise<ReplyTo<Name>> => {
    const asked = checkedRequest(schema, request) as Asked<Name> & { readonly session?: unknown };
    if (asked.session !== undefined) token(asked.session, 'session');
    return handle(asked);
  };
}

/** Makes the endpoint of a request from its row. */
export function endpointOf(
  subject: RequestName,
  handle: Endpoint['handle'],
  more: Pick<Endpoint, 'lower' | 'stats'> = {},
): Endpoint {
  const { scope, summary: description } = rowOf(subject);
  const name = subject.replace('tool.', '').replace('.', '-');
  const bySession = scope === 'session' || scope === 'any session';
  return { name, subject, bySession, description, handle, ...more };
}

export function endpointsOf(handlers: Partial<Handlers<RequestName>>): Endpoint[] {
  return Object.entries(handlers).map(([given, handle]) => {
    const name = given as RequestName;
    const lower = name.endsWith('-list') && { lower: 'its filters, or delete what is no longer needed' };
    return endpointOf(name, checkedHandler(name, handle as Handler<RequestName>), lower || {});
  });
}

interface ServiceRow {
  readonly name: string;
  readonly description: string;
  /** The service's own numbers in its health. */
  readonly own: () => object | Promise<object>;
  /** Default: only its health. */
  readonly endpoints?: readonly Endpoint[];
  /** False if its requests are stored nowhere. Default: their secrets are removed. */
  readonly redacts?: boolean;
}

/** Serves a micro service with its requests and its health, and exposes its counters. */
export async function serveRequests(
  connection: NatsConnection,
  { config, logger, shutdown, health, traceSessions, monitoring }: Serving,
  { name, description, own, endpoints = [], redacts = true }: ServiceRow,
): Promise<void> {
  const guard = { ...config, logger, ...(redacts && { secrets: scannerFor(config) }) };
  const service = await startService(connection, {
    ...{ name, version: VERSION, description, logger, traceSessions },
    endpoints: [...guarded<Endpoint>(guard, endpoints), healthEndpoint(name, healthOf(health, own))],
  });
  watchService(monitoring, name, service);
  shutdown.add(`the service ${name}`, () => service.stop());
}

import type { Config } from '../../config/config.js';
import { checkedRequest } from '../../contracts/checked.js';
import { isToken, sessionIn, type Token, token } from '../../contracts/names.js';
import { type ReplyTo, type RequestName, type RequestValues, rowOf } from '../../contracts/requests.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { ConcurrencyLimit } from '../../engine/runtime/pacing.js';
import {
  addCounts,
  redactJson,
  type SecretCounts,
  type SecretScanner,
  scannerFor,
} from '../../memory/redaction/redactor.js';
import type { NatsConnection } from '../../nats/connection/connect-nats.js';
import { type Endpoint, healthEndpoint, startService } from '../../nats/micro/micro-service.js';
import { isObject } from '../../shared/text.js';
import { VERSION } from '../../version.js';
import type { Serving } from './service-context.js';
import { healthOf } from './service-health.js';

/** The values of a request with their defaults; its session is checked. */
export type Values<Name extends RequestName> =
  RequestValues<Name> extends { readonly session: string }
    ? Omit<RequestValues<Name>, 'session'> & { readonly session: Token }
    : RequestValues<Name>;

export type Handler<Name extends RequestName> = (values: Values<Name>) => Promise<ReplyTo<Name>>;
export type Handlers<Name extends RequestName> = { readonly [Each in Name]: Handler<Each> };

export function checkedHandler<Name extends RequestName>(name: Name, handle: Handler<Name>) {
  const { request: schema } = rowOf(name);
  return async (request: unknown): Promise<ReplyTo<Name>> => {
    const values = checkedRequest(schema, request) as Values<Name> & { readonly session?: unknown };
    if (values.session !== undefined) token(values.session, 'session');
    return handle(values);
  };
}

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

export interface Service {
  readonly numbers: () => object | Promise<object>;
  /** Default: only its health. */
  readonly endpoints?: readonly Endpoint[];
  /** False if its requests are stored nowhere. Default: their secrets are removed. */
  readonly redacts?: boolean;
}

export async function serveRequests(
  connection: NatsConnection,
  { config, logger, shutdown, health }: Serving,
  { name, description }: { readonly name: string; readonly description: string },
  { numbers, endpoints = [], redacts = true }: Service,
): Promise<void> {
  const guard = { ...config, logger, ...(redacts && { secrets: scannerFor(config) }) };
  const service = await startService(connection, {
    name,
    version: VERSION,
    description,
    logger,
    endpoints: [...guarded(guard, endpoints), healthEndpoint(name, healthOf(health, numbers))],
  });
  shutdown.add(`the service ${name}`, () => service.stop());
}

/** Wraps endpoints: limits the requests in progress of a session, and redacts secrets before a handler stores them. */
export function guarded(
  {
    requestsInProgress: perKey,
    secrets,
    logger,
  }: Pick<Config, 'requestsInProgress'> & { readonly secrets?: SecretScanner; readonly logger: Logger },
  endpoints: readonly Endpoint[],
): Endpoint[] {
  const limit = new ConcurrencyLimit({ perKey, what: 'requests in progress' });
  return endpoints.map((endpoint) => {
    const redacted: SecretCounts = {};
    const clean = (request: unknown, of: object) => {
      if (secrets === undefined) return request;
      const { value, found } = redactJson(request, secrets);
      addCounts(redacted, found);
      if (Object.keys(found).length > 0)
        logger.info({ endpoint: endpoint.name, ...of, redacted: found }, 'secrets taken out of a request');
      return value;
    };
    const handle = async (request: unknown) => {
      const of = namedIn(request);
      const [[kind, name] = ['the', 'installation']] = Object.entries(of);
      return limit.run(`${kind} ${name}`, () => endpoint.handle(clean(request, of)));
    };
    const stats = () => (Object.keys(redacted).length === 0 ? null : { redacted });
    return { stats, ...endpoint, handle };
  });
}

function namedIn(request: unknown): { readonly session?: string; readonly project?: string } {
  const session = sessionIn(request);
  if (session !== undefined) return { session };
  return isObject(request) && isToken(request.project) ? { project: request.project } : {};
}

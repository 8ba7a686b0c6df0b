import { type NatsConnection, RequestStrategy, type ServiceStats } from 'nats';
import { z } from 'zod';
import type { ServiceHealth } from '../../contracts/replies/health-reply.js';
import { isNoResponders, toThroughlineError } from '../connection/nats-errors.js';

/** How every instance of these services does that answers now. */
export async function healthOfServices(
  connection: NatsConnection,
  services: readonly string[],
  waitMs: number,
): Promise<ServiceHealth[]> {
  const found = await Promise.all(services.map((each) => instancesOf(connection, each, waitMs)));
  return found.flat().map(serviceHealth);
}

const incident = z.object({ at: z.string(), message: z.string(), code: z.string().exactOptional() });
const common = z.looseObject({
  host: z.string().exactOptional(),
  pid: z.int().exactOptional(),
  uptimeSeconds: z.number().exactOptional(),
  warnings: z.number().exactOptional(),
  errors: z.number().exactOptional(),
  connection: z.object({ connected: z.boolean(), disconnects: z.number() }).exactOptional(),
  lastIncident: incident.nullable().optional(),
});

/** How an instance does, as far as its statistics say it. */
function serviceHealth({ name, id, version, endpoints = [] }: ServiceStats): ServiceHealth {
  const data: unknown = endpoints.find((each) => each.name === 'health')?.data;
  const { connection, lastIncident, ...rest } = common.safeParse(data).data ?? {};
  const { host, pid, uptimeSeconds, warnings, errors, ...numbers } = rest;
  const sum = (count: (endpoint: (typeof endpoints)[number]) => number) =>
    endpoints.reduce((total, endpoint) => total + count(endpoint), 0);
  return {
    ...{ service: name, id, version },
    requests: sum(({ num_requests }) => num_requests),
    errorReplies: sum(({ num_errors }) => num_errors),
    ...(host !== undefined && { host }),
    ...(pid !== undefined && { pid }),
    ...(uptimeSeconds !== undefined && { uptimeSeconds }),
    ...(connection !== undefined && {
      connected: connection.connected,
      disconnects: connection.disconnects,
    }),
    ...(warnings !== undefined && { warnings }),
    ...(errors !== undefined && { errors }),
    ...(lastIncident && { lastIncident }),
    numbers,
  };
}

/** Longest wait by default for a running instance: if there is none, the server says so at once. */
const WAIT_MS = 5000;
/** How long further instances are waited for after each. */
const QUIET_MS = 100;

/** The statistics of all instances of a service that answer now, by name and id; none where none runs. */
export async function instancesOf(
  connection: NatsConnection,
  service: string,
  waitMs = WAIT_MS,
): Promise<ServiceStats[]> {
  const found: ServiceStats[] = [];
  const monitor = connection.services.client({
    strategy: RequestStrategy.JitterTimer,
    maxWait: waitMs,
    jitter: QUIET_MS,
  });
  try {
    for await (const stats of await monitor.stats(service)) found.push(stats);
  } catch (error) {
    if (!isNoResponders(error)) throw toThroughlineError(error, `reading the statistics of ${service}`);
  }
  // They answer in any order.
  return found.sort((one, other) => orderOf(one).localeCompare(orderOf(other)));
}

function orderOf({ name, id }: ServiceStats): string {
  return `${name} ${id}`;
}

/** What an endpoint of all running instances of a service shows in its statistics, beside requests and errors. */
export async function serviceStats(
  connection: NatsConnection,
  service: string,
  endpoint: string,
): Promise<unknown[]> {
  const shown = (await instancesOf(connection, service)).flatMap(({ endpoints }) => endpoints ?? []);
  return shown.flatMap(({ name, data }) =>
    name === endpoint && data !== null && data !== undefined ? [data] : [],
  );
}

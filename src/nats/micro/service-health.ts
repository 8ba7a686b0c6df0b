import { type NatsConnection, RequestStrategy, type ServiceStats } from 'nats';
import { z } from 'zod';
import type { ServiceHealth } from '../../contracts/replies/health-reply.js';
import { isNoResponders, toThroughlineError } from '../connection/nats-errors.js';

/** Returns the health of all instances that answer. */
export async function healthOfServices(
  connection: NatsConnection,
  services: readonly string[],
  waitMs: number,
): Promise<ServiceHealth[]> {
  const found = await Promise.all(services.map((service) => instancesOf(connection, service, waitMs)));
  return found.flat().map(serviceHealth);
}

const incident = z.object({ at: z.string(), message: z.string(), code: z.string().exactOptional() });
const plain = z.object({
  host: z.string().exactOptional(),
  pid: z.int().exactOptional(),
  uptimeSeconds: z.number().exactOptional(),
  warnings: z.number().exactOptional(),
  errors: z.number().exactOptional(),
});
const common = z.looseObject({
  ...plain.shape,
  connection: z.object({ connected: z.boolean(), disconnects: z.number() }).exactOptional(),
  lastIncident: incident.nullable().optional(),
});

/** Extracts an instance's health from its statistics. */
function serviceHealth({ name, id, version, endpoints = [] }: ServiceStats): ServiceHealth {
  const data: unknown = endpoints.find((endpoint) => endpoint.name === 'health')?.data;
  const { data: health = {} } = common.safeParse(data);
  const { connection, lastIncident } = health;
  const sum = (count: (endpoint: (typeof endpoints)[number]) => number) =>
    endpoints.reduce((total, endpoint) => total + count(endpoint), 0);
  return {
    ...{ service: name, id, version },
    requests: sum(({ num_requests }) => num_requests),
    errorReplies: sum(({ num_errors }) => num_errors),
    ...plain.parse(health),
    ...connection,
    ...(lastIncident && { lastIncident }),
    numbers: Object.fromEntries(
      Object.entries(health).filter(([name]) => !Object.hasOwn(common.shape, name)),
    ),
  };
}

/** Wait for further instances after each answer. */
const QUIET_MS = 100;

/** Returns the statistics of all instances that answer, sorted by name and id. Without any, the server answers at once. */
export async function instancesOf(
  connection: NatsConnection,
  service: string,
  waitMs: number,
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
  // Answers arrive in any order.
  const order = ({ name, id }: ServiceStats) => `${name} ${id}`;
  return found.sort((one, other) => order(one).localeCompare(order(other)));
}

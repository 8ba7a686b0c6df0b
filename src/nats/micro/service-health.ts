import type { NatsConnection, ServiceStats } from 'nats';
import { z } from 'zod';
import type { ServiceHealth } from '../../contracts/replies/health-reply.js';
import { instancesOf } from './service-stats.js';

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

import { type NatsConnection, RequestStrategy, type ServiceStats } from 'nats';
import { isNoResponders, toThroughlineError } from '../connection/nats-errors.js';

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

import { type NatsConnection, RequestStrategy } from 'nats';
import { isNoResponders, toThroughlineError } from './errors.js';

/** What an endpoint of all running instances of a service shows in its statistics, beside requests and errors. */
export async function serviceStats(
  connection: NatsConnection,
  service: string,
  endpoint: string,
): Promise<unknown[]> {
  const found: unknown[] = [];
  const monitor = connection.services.client({
    strategy: RequestStrategy.JitterTimer,
    maxWait: 1000,
    jitter: 100,
  });
  try {
    for await (const { endpoints } of await monitor.stats(service)) {
      for (const { name, data } of endpoints ?? [])
        if (name === endpoint && data !== null && data !== undefined) found.push(data);
    }
  } catch (error) {
    // Nobody answers: no instance runs.
    if (!isNoResponders(error)) throw toThroughlineError(error, `reading the statistics of ${service}`);
  }
  return found;
}

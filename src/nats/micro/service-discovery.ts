import type { Service } from 'nats';

/**
 * Makes a service's answers to `$SRV.INFO` and `$SRV.STATS` fit the server's largest message. The client sends whatever
 * `info` and `stats` give, and does not expect that this fails: one that is too large would end the process.
 *
 * What does not fit goes without what each endpoint shows in its statistics and its description, then without the
 * endpoints.
 *
 * @param maxPayload bytes that the server takes now
 */
export function keepDiscoverable(service: Service, maxPayload: () => number | undefined): void {
  const info = service.info.bind(service);
  const stats = service.stats.bind(service);
  const fitting = <Reply extends object>(...candidates: readonly Reply[]): Reply | undefined => {
    const limit = maxPayload() ?? Number.POSITIVE_INFINITY;
    return candidates.find((each) => Buffer.byteLength(JSON.stringify(each)) <= limit) ?? candidates.at(-1);
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

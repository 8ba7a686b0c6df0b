import type { NatsConnection } from 'nats';

/** A connection on which something else happens to the messages that are published: `nth` counts them from 1. */
export function tampered(
  connection: NatsConnection,
  onPublish: (nth: number, send: () => void) => void,
): NatsConnection {
  let nth = 0;
  return new Proxy(connection, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'publish') return typeof value === 'function' ? value.bind(target) : value;
      return (...args: Parameters<NatsConnection['publish']>) => {
        nth += 1;
        onPublish(nth, () => target.publish(...args));
      };
    },
  });
}

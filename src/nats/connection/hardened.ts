import { headers, type NatsConnection, type Subscription, type SubscriptionOptions } from 'nats';
import { codeOf } from '../../contracts/errors.js';
import type { Logger } from '../../ports/logger.js';

/**
 * Makes a connection last whatever its peers send. What is thrown while the client hands on a message ends its reading
 * for good: the connection is deaf until pings tell, half a minute later. So no callback of a subscription may throw, nor
 * the client's own look at headers.
 */
export function harden(connection: NatsConnection, logger: Logger): void {
  lenientHeaders();
  const subscribe = connection.subscribe.bind(connection);
  connection.subscribe = (subject: string, options: SubscriptionOptions = {}): Subscription => {
    const { callback } = options;
    if (callback === undefined) return subscribe(subject, options);
    return subscribe(subject, {
      ...options,
      callback(error, message) {
        try {
          callback(error, message);
        } catch (thrown) {
          logger.error({ subject, code: codeOf(thrown), err: thrown }, 'a message could not be handled');
        }
      },
    });
  };
}

/**
 * The server passes on headers as they came, and the client throws on some: a value with a lone line break, an invalid
 * name. Unreadable headers are left out.
 */
function lenientHeaders(): void {
  const messageHeaders = headers().constructor;
  if (Reflect.has(messageHeaders, LENIENT)) return;
  const decode: unknown = Reflect.get(messageHeaders, 'decode');
  if (typeof decode !== 'function') return;
  const read = (head: string): unknown =>
    Reflect.apply(decode, messageHeaders, [new TextEncoder().encode(head)]);
  const isReadable = (line: string): boolean => {
    try {
      return read(`\r\n${line}`) !== undefined;
    } catch {
      return false;
    }
  };
  const lenient = (bytes: Uint8Array): unknown => {
    try {
      return Reflect.apply(decode, messageHeaders, [bytes]);
    } catch {
      const [version = '', ...lines] = new TextDecoder().decode(bytes).split('\r\n');
      return read([version, ...lines.filter(isReadable)].join('\r\n'));
    }
  };
  Object.defineProperties(messageHeaders, { decode: { value: lenient }, [LENIENT]: { value: true } });
}

const LENIENT = Symbol.for('throughline.lenient-headers');

import type { NatsConnection, SubscriptionOptions } from 'nats';
import { isOwnSubject } from '../../contracts/names.js';
import type { Logger } from '../../ports/logger.js';
import { limitedWarnings } from '../../runtime/limited-warnings.js';

/**
 * A connection whose services answer nobody on a subject of ours: such a request is dropped before anyone sees it. What
 * may write there is the service, not its caller, and NATS does not check a reply subject. That holds for the answers to
 * `$SRV.PING`, `$SRV.INFO` and `$SRV.STATS` as well, which the client gives by itself.
 */
export function guardedServices(connection: NatsConnection, logger: Logger): NatsConnection['services'] {
  const warn = limitedWarnings(logger, () => performance.now());
  const subscribe = (subject: string, options: SubscriptionOptions = {}) => {
    const { callback } = options;
    if (callback === undefined) return connection.subscribe(subject, options);
    return connection.subscribe(subject, {
      ...options,
      callback(error, message) {
        if (error !== null || message.reply === undefined || !isOwnSubject(message.reply)) {
          callback(error, message);
          return;
        }
        const fields = { code: 'permission_denied', subject: message.subject, reply: message.reply };
        warn(fields, 'request not answered: its reply subject is not for answers', subject);
      },
    });
  };
  const guarded: NatsConnection = Object.create(connection, {
    subscribe: { value: subscribe },
    // The client keeps its services here, made for the connection that first asked for them.
    _services: { value: undefined, writable: true },
  });
  return guarded.services;
}

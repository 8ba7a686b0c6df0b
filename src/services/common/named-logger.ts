import type { Logger } from '../../ports/logger.js';

/** A logger whose lines say which service they come from; a `service` among their fields stands in place of `name`. */
export function namedLogger(logger: Logger, name: string): Logger {
  const named = (fields: object) => ({ service: name, ...fields });
  return {
    ...(logger.debug && {
      debug: (fields: object, message: string) => logger.debug?.(named(fields), message),
    }),
    info: (fields, message) => logger.info(named(fields), message),
    warn: (fields, message) => logger.warn(named(fields), message),
    error: (fields, message) => logger.error(named(fields), message),
  };
}

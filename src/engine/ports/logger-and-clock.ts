/** The part of a pino logger that the services use. */
export interface Logger {
  /** Absent below the log level: `logger.debug?.({ … }, 'text')` then builds nothing. */
  debug?(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLogger: Logger = { info() {}, warn() {}, error() {} };

/** Returns the time now, ISO 8601 in UTC. */
export type Clock = () => string;

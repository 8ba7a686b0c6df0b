/** The part of a pino logger that the services use. */
export interface Logger {
  /** Absent where the level leaves it out: `logger.debug?.({ … }, 'text')` then builds nothing. */
  debug?(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLogger: Logger = { info() {}, warn() {}, error() {} };

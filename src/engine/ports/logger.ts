/** The part of a pino logger that the services use. */
export interface Logger {
  /** Absent where the level leaves it out: `logger.debug?.({ … }, 'text')` then builds nothing. */
  debug?(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLogger: Logger = { info() {}, warn() {}, error() {} };

/** The time now, ISO 8601 in UTC: handed in, so that nothing else asks for it. */
export type Clock = () => string;

export const systemClock: Clock = () => new Date().toISOString();

/** @param now milliseconds since 1970 */
export function clockBy(now: () => number): Clock {
  return () => new Date(now()).toISOString();
}

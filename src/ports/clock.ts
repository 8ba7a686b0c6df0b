/** The time now, ISO 8601 in UTC: handed in, so that nothing else asks for it. */
export type Clock = () => string;

export const systemClock: Clock = () => new Date().toISOString();

/** @param now milliseconds since 1970 */
export function clockBy(now: () => number): Clock {
  return () => new Date(now()).toISOString();
}

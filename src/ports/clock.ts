/** The time now, ISO 8601 in UTC: handed in, so that nothing else asks for it. */
export type Clock = () => string;

export const systemClock: Clock = () => new Date().toISOString();

import { codeOf } from '../../contracts/errors.js';
import type { Incidents } from './incidents.js';

/** What an operator wants to know of one instance of a service: it shows in the statistics of the micro service. */
export interface HealthParts {
  /** Name of the machine or container that the instance runs on. */
  readonly host: string;
  /** Milliseconds since the instance started. */
  readonly uptimeMs: () => number;
  readonly connection: () => object;
  readonly incidents: () => Incidents;
}

/** `{host, uptimeSeconds, connection, warnings, errors, lastIncident, …own}`. */
export type Health = () => Promise<object>;

/** The health of a service: what all of them tell, and its own numbers. Those that cannot be had now say why. */
export function healthOf(parts: HealthParts, own: () => object | Promise<object>): Health {
  return async () => {
    const { warnings, errors, last } = parts.incidents();
    return {
      host: parts.host,
      uptimeSeconds: Math.round(parts.uptimeMs() / 1000),
      connection: parts.connection(),
      warnings,
      errors,
      lastIncident: last,
      ...(await numbersOf(own)),
    };
  };
}

async function numbersOf(own: () => object | Promise<object>): Promise<object> {
  try {
    return await own();
  } catch (error) {
    return { unknown: codeOf(error) };
  }
}

import { codeOf } from '../../contracts/errors.js';
import type { Incidents } from './incidents.js';

/** The health of a process, shown in the statistics of its micro services. */
export interface HealthParts {
  /** Name of the machine or container. */
  readonly host: string;
  readonly pid: number;
  readonly uptimeMs: () => number;
  readonly connection: () => object;
  readonly incidents: () => Incidents;
}

export type Health = () => Promise<object>;

/** Adds a service's own numbers to the common health, or the error code if they are unavailable. */
export function healthOf(parts: HealthParts, own: () => object | Promise<object>): Health {
  return async () => {
    const { warnings, errors, last } = parts.incidents();
    return {
      host: parts.host,
      pid: parts.pid,
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

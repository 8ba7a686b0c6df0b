import { codeOf } from '../../contracts/errors.js';
import type { Incidents } from './incidents.js';

/** The health of one instance of a service, for operators: the statistics of the micro service show it. */
export interface HealthParts {
  /** Name of the machine or container that the instance runs on. */
  readonly host: string;
  /** Its process id there. */
  readonly pid: number;
  /** Milliseconds since the instance started. */
  readonly uptimeMs: () => number;
  readonly connection: () => object;
  readonly incidents: () => Incidents;
}

/** `{host, pid, uptimeSeconds, connection, warnings, errors, lastIncident, …own}`. */
export type Health = () => Promise<object>;

/** The health of a service: the common part, and its own numbers. Numbers that are not available now say why. */
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

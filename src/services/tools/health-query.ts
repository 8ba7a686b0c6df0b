import { codeOf, messageOf, ThroughlineError } from '../../contracts/errors.js';
import type { ToolReply } from '../../contracts/requests.js';
import type { MissingPart } from '../../contracts/session-requests.js';
import type { Clock } from '../../engine/ports/logger-and-clock.js';
import { LATE, withinDeadline } from '../../shared/deadlines.js';

type HealthShown = ToolReply<'health-show'>;

export interface HealthQueryOptions {
  readonly services: () => Promise<HealthShown['services']>;
  readonly results: () => Promise<HealthShown['results']>;
  readonly clock: Clock;
  readonly partMs: number;
}

/** Answers `health-show`: everything available within a second and a half, and the reasons for missing parts. */
export function createHealthQuery({ clock, partMs, ...parts }: HealthQueryOptions) {
  return async (): Promise<HealthShown> => {
    const at = clock();
    const missing: MissingPart[] = [];
    const part = async <T>(name: MissingPart['part'], work: Promise<T>): Promise<T | undefined> => {
      // It may reject after the deadline.
      work.catch(() => undefined);
      try {
        const had = await withinDeadline(partMs, work);
        if (had !== LATE) return had;
        throw new ThroughlineError('unavailable', `timed out after ${partMs} ms: ask again`);
      } catch (error) {
        missing.push({ part: name, code: codeOf(error), message: messageOf(error) });
        return undefined;
      }
    };
    const [services, results] = await Promise.all([
      part('services', parts.services()),
      part('results', parts.results()),
    ]);
    return { at, services: services ?? [], ...(results !== undefined && { results }), missing };
  };
}

import { codeOf, messageOf, ThroughlineError } from '../../contracts/errors.js';
import type { ToolReply } from '../../contracts/requests.js';
import type { MissingPart } from '../../contracts/session-requests.js';
import type { Clock } from '../../engine/ports/logger-and-clock.js';
import type { Finding } from '../../nats/doctor/server-findings.js';
import { LATE, withinDeadline } from '../../shared/deadlines.js';
import type { Asked } from '../common/service-shell.js';

type HealthShown = ToolReply<'health-show'>;

/** Answers `health-show`: everything available within a second and a half, and the reasons for missing parts. */
export interface InstallationParts {
  readonly services: () => Promise<HealthShown['services']>;
  readonly results: () => Promise<HealthShown['results']>;
}

interface HealthQueryOptions {
  readonly parts: InstallationParts;
  readonly quickCheck: () => Promise<readonly Finding[]>;
  readonly clock: Clock;
  readonly partMs: number;
}

const FINDINGS_MS = 30_000;

export function createHealthQuery(options: HealthQueryOptions) {
  const { parts, clock, partMs } = options;
  let known: Promise<Pick<HealthShown, 'findings' | 'findingsAt'>> | undefined;
  let until = 0;
  /** Caches the doctor's findings: one look serves all requests of half a minute. A look that failed is made again. */
  const findings = () => {
    if (known !== undefined && performance.now() < until) return known;
    until = performance.now() + FINDINGS_MS;
    const findingsAt = clock();
    known = options.quickCheck().then((found) => ({ findings: found, findingsAt }));
    known.catch(() => {
      known = undefined;
    });
    return known;
  };
  return async ({ brief }: Asked<'tool.health-show'>): Promise<HealthShown> => {
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
    const [services, results, found] = await Promise.all([
      part('services', parts.services()),
      part('results', parts.results()),
      brief ? undefined : part('findings', findings()),
    ]);
    return { at, services: services ?? [], ...(results !== undefined && { results }), ...found, missing };
  };
}

import { isToken } from '../../contracts/names.js';
import type { Logger } from '../../ports/logger.js';
import { addCounts, redactJson, type SecretCounts } from '../../redaction/redactor.js';
import type { SecretScanner } from '../../redaction/secret-scanner.js';
import { RateLimiter } from './rate-limiter.js';

/**
 * The guard between a service and its handlers: it limits each session's rate, and takes secrets out before anything is
 * kept.
 */
export interface GuardOptions {
  /** Requests of one session a second, for all handlers together; 0 for no limit. */
  readonly requestsPerSecond: number;
  /** Without one, requests are passed on as they are: for handlers that keep nothing. */
  readonly secrets?: SecretScanner;
  readonly logger: Logger;
  /** Milliseconds from any fixed moment on. */
  readonly now?: () => number;
}

/** The part of an endpoint that the guard works on. */
export interface Guardable {
  readonly name: string;
  /** `caller` is whom the answer goes to, as far as NATS tells. */
  readonly handle: (request: unknown, caller: string) => Promise<unknown>;
  readonly stats?: () => unknown;
}

/** Endpoints with the guard before each. One without statistics gets those of the guard: secrets taken out, by rule. */
export function guarded<Endpoint extends Guardable>(
  { requestsPerSecond, secrets, logger, now = () => performance.now() }: GuardOptions,
  endpoints: readonly Endpoint[],
): Endpoint[] {
  const limiter = new RateLimiter({ perSecond: requestsPerSecond, now });
  return endpoints.map((endpoint) => {
    const redacted: SecretCounts = {};
    const handle = async (request: unknown, caller: string) => {
      const session = nameOf(request);
      limiter.admit(session ?? `${CALLER}${caller}`);
      if (secrets === undefined) return endpoint.handle(request, caller);
      const { value, found } = redactJson(request, secrets);
      if (Object.keys(found).length > 0) {
        addCounts(redacted, found);
        logger.info(
          { endpoint: endpoint.name, ...fieldOf(session), redacted: found },
          'secrets taken out of a request',
        );
      }
      return endpoint.handle(value, caller);
    };
    const stats = () => (Object.keys(redacted).length === 0 ? null : { redacted });
    return { stats, ...endpoint, handle };
  });
}

// No session can have either name.
const PROJECT = 'project ';
const CALLER = 'caller ';

function fieldOf(name: string | undefined): object {
  return name?.startsWith(PROJECT) ? { project: name.slice(PROJECT.length) } : { session: name };
}

/** The session that a request is about, or the project; those of one caller that name neither share one bucket. */
function nameOf(request: unknown): string | undefined {
  if (typeof request !== 'object' || request === null) return undefined;
  if ('session' in request && isToken(request.session)) return request.session;
  return 'project' in request && isToken(request.project) ? `${PROJECT}${request.project}` : undefined;
}

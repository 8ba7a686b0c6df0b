import { isToken } from '../../contracts/names.js';
import type { Logger } from '../../engine/ports/clients.js';
import { ConcurrencyLimit } from '../../engine/runtime/batched.js';
import {
  addCounts,
  redactJson,
  type SecretCounts,
  type SecretScanner,
} from '../../memory/redaction/redactor.js';

interface GuardOptions {
  /** Requests of one session or project that are in progress at a time, over all handlers. */
  readonly requestsInProgress: number;
  /** Default: no redaction, for handlers that store nothing. */
  readonly secrets?: SecretScanner;
  readonly logger: Logger;
}

interface Guardable {
  readonly name: string;
  readonly handle: (request: unknown) => Promise<unknown>;
  readonly stats?: () => unknown;
}

/**
 * Wraps endpoints: limits the requests in progress of each session, and redacts secrets before a handler stores anything. An
 * endpoint without statistics gets the guard's: redacted secrets by rule.
 */
export function guarded<Endpoint extends Guardable>(
  { requestsInProgress: perKey, secrets, logger }: GuardOptions,
  endpoints: readonly Endpoint[],
): Endpoint[] {
  const limit = new ConcurrencyLimit({ perKey, what: 'requests in progress' });
  return endpoints.map((endpoint) => {
    const redacted: SecretCounts = {};
    const clean = (request: unknown, of: object) => {
      if (secrets === undefined) return request;
      const { value, found } = redactJson(request, secrets);
      addCounts(redacted, found);
      if (Object.keys(found).length > 0)
        logger.info({ endpoint: endpoint.name, ...of, redacted: found }, 'secrets taken out of a request');
      return value;
    };
    const handle = async (request: unknown) => {
      const of = namedIn(request);
      const [[kind, name] = ['the', 'installation']] = Object.entries(of);
      return limit.run(`${kind} ${name}`, () => endpoint.handle(clean(request, of)));
    };
    const stats = () => (Object.keys(redacted).length === 0 ? null : { redacted });
    return { stats, ...endpoint, handle };
  });
}

/** Returns the session or project of a request; empty if it names neither. */
function namedIn(request: unknown): { readonly session?: string; readonly project?: string } {
  if (typeof request !== 'object' || request === null) return {};
  if ('session' in request && isToken(request.session)) return { session: request.session };
  return 'project' in request && isToken(request.project) ? { project: request.project } : {};
}

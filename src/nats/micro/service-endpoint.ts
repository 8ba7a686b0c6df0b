import { z } from 'zod';
import { checkedRequest } from '../../contracts/checked.js';
import { healthSubject } from '../../contracts/names.js';

/** One subject of a service, which takes and gives JSON. */
export interface Endpoint {
  readonly name: string;
  readonly subject: string;
  readonly description: string;
  /** From a request's JSON, and who sent it, to the reply's. What it throws becomes an error reply. */
  readonly handle: (request: unknown, caller: string) => Promise<unknown>;
  /** Whether a request names its session: it may then also come to `<subject>.<session>`, for that one alone. */
  readonly bySession?: boolean;
  /** What a caller can ask less of, for a reply that is too large: `maxFacts or maxTokens`. */
  readonly lower?: string;
  /** Whether its requests make spans, where spans are recorded. Default: they do. */
  readonly traced?: boolean;
  /** What the statistics of the endpoint show beside requests and errors. */
  readonly stats?: () => unknown;
}

const withoutFields = z.object({});

/** The endpoint `health.<service>`; the statistics of the service show the same. */
export function healthEndpoint(service: string, health: () => Promise<object>): Endpoint {
  return {
    name: 'health',
    subject: healthSubject(service),
    description: 'health of this instance',
    handle: async (request) => {
      checkedRequest(withoutFields, request);
      return health();
    },
    stats: health,
    // Whatever watches a service asks all the time.
    traced: false,
  };
}

/** The same endpoint for one session alone, at a subject that users may be allowed one by one. */
export function ofOneSession(endpoint: Endpoint): Endpoint {
  const { name, subject, description, handle, lower } = endpoint;
  return {
    name: `${name}-session`,
    subject: `${subject}.*`,
    description: `${description}; of one session`,
    handle,
    ...(lower !== undefined && { lower }),
  };
}

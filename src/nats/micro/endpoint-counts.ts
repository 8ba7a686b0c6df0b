import type { ErrorCode } from '../../contracts/error-codes.js';

/**
 * Error replies of a service's endpoints, for its statistics. The client counts only what a handler throws before it
 * returns, and ours are asynchronous: without this `nats micro stats` shows no error at all.
 */
export class EndpointCounts {
  readonly #errors = new Map<string, { count: number; last: ErrorCode }>();
  readonly #asked = new Map<string, number>();
  readonly #codes = new Map<ErrorCode, number>();

  /** Counts a request to an endpoint. */
  asked(subject: string): void {
    this.#asked.set(subject, (this.#asked.get(subject) ?? 0) + 1);
  }

  /** Requests by the subject of their endpoint, and error replies by code. */
  totals(): RequestTotals {
    return { requests: Object.fromEntries(this.#asked), errors: Object.fromEntries(this.#codes) };
  }

  /** Counts an error reply of the endpoint on a subject. */
  failed(subject: string, code: ErrorCode): void {
    const count = (this.#errors.get(subject)?.count ?? 0) + 1;
    this.#errors.set(subject, { count, last: code });
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
  }

  /**
   * Writes the counts into the client's own statistics of an endpoint, which it hands to the handler of statistics
   * right before it shows them. The code alone: texts may quote what is not for all who may read statistics.
   */
  showIn(endpoint: { readonly subject: string }): void {
    const errors = this.#errors.get(endpoint.subject);
    if (errors === undefined || !hasStats(endpoint)) return;
    endpoint.stats.num_errors = errors.count;
    endpoint.stats.last_error = errors.last;
  }
}

/** What a service has been asked, and could not answer, since its start. */
export interface RequestTotals {
  readonly requests: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
}

interface ClientStats {
  num_errors: number;
  last_error?: string | undefined;
}

/** The client's type of an endpoint does not tell that its statistics hang on it. */
function hasStats(endpoint: object): endpoint is { readonly stats: ClientStats } {
  if (!('stats' in endpoint)) return false;
  const { stats } = endpoint;
  return typeof stats === 'object' && stats !== null && 'num_errors' in stats;
}

import type { CompileReply, CompileRequestInput } from '../contracts/compile.js';
import { explainIssues } from '../contracts/explain-issues.js';
import { COMPILE_SUBJECT, dispatchSubject, type Role, token } from '../contracts/names.js';
import {
  type ImplementerResultInput,
  implementerResult,
  type ReviewerResultInput,
  reviewerResult,
} from '../contracts/results.js';
import { ThroughlineError } from '../errors.js';
import type { ClientTransport } from './transport.js';

/** Where a published result stands: pass `sequence` as `after` to see it in the next prompt. */
export interface Published {
  /** Sequence in the `DISPATCH` stream. */
  readonly sequence: number;
}

export interface ClientOptions {
  /** Longest wait for an answer, in milliseconds; a request with `after` may take longer to be answered. Default 10 000. */
  readonly timeoutMs?: number;
}

/**
 * What a TypeScript runtime uses: publish what agents returned, ask for the next prompt.
 *
 * Every method rejects with a `ThroughlineError`, whose `code` is stable.
 */
export class ThroughlineClient {
  readonly #transport: ClientTransport;
  readonly #timeoutMs: number;

  constructor(transport: ClientTransport, options: ClientOptions = {}) {
    this.#transport = transport;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
  }

  /** Publishes an implementer's result. Throws `schema_invalid` before anything is sent. */
  async publishImplementer(session: string, result: ImplementerResultInput): Promise<Published> {
    const parsed = implementerResult.safeParse(result);
    if (!parsed.success) throw new ThroughlineError('schema_invalid', explainIssues(parsed.error, result));
    return this.publishText(session, 'implementer', JSON.stringify(result));
  }

  /** Publishes a reviewer's result. Throws `schema_invalid` before anything is sent. */
  async publishReviewer(session: string, result: ReviewerResultInput): Promise<Published> {
    const parsed = reviewerResult.safeParse(result);
    if (!parsed.success) throw new ThroughlineError('schema_invalid', explainIssues(parsed.error, result));
    return this.publishText(session, 'reviewer', JSON.stringify(result));
  }

  /** Publishes an agent's raw text as it is; should it not hold a result, it ends up in `DISPATCH_REJECTED`. */
  async publishText(session: string, role: Role, text: string): Promise<Published> {
    return this.#transport.publish(dispatchSubject(token(session, 'session'), role), text);
  }

  /** Asks for the next prompt. */
  async compile(request: CompileRequestInput): Promise<CompileReply> {
    return (await this.#transport.request(COMPILE_SUBJECT, request, this.#timeoutMs)) as CompileReply;
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

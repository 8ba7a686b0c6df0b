import type { Tracing } from './tracing.js';

/**
 * How the SDK reaches Throughline. An implementer must reject with a ThroughlineError: `unavailable` without an answer
 * in time, with `details.closed` where there never will be one, or the code that an error reply carries.
 */
export interface ClientTransport {
  /**
   * Stores a dispatch and gives its sequence. Within two minutes one with the same id is not stored again: it is a
   * `duplicate`, and the sequence is that of the first.
   */
  publish(
    subject: string,
    body: string | Uint8Array,
    messageId: string,
  ): Promise<{ readonly sequence: number; readonly duplicate?: boolean }>;
  /** Asks a service and gives the JSON of its answer. */
  request(subject: string, body: unknown, timeoutMs: number): Promise<unknown>;
  /** Sends a request without waiting for an answer: it may get lost, and nothing says so. */
  send(subject: string, body: unknown): void;
  close(): Promise<void>;
  /** Where spans go. Default: nowhere. */
  readonly tracing?: Tracing;
}

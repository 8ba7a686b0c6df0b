/**
 * How the SDK reaches Throughline. An implementer must reject with a ThroughlineError: `unavailable` when nobody
 * answers in time, or the code that an error reply carries.
 */
export interface ClientTransport {
  /** Stores a message and gives its sequence. */
  publish(subject: string, body: string | Uint8Array): Promise<{ readonly sequence: number }>;
  /** Asks a service and gives the JSON of its answer. */
  request(subject: string, body: unknown, timeoutMs: number): Promise<unknown>;
  /** Sends a request without waiting for an answer; whether anybody got it, nobody says. */
  send(subject: string, body: unknown): void;
  close(): Promise<void>;
}

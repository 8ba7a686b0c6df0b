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

/**
 * What a client that also listens needs of NATS. It lasts: when the server is lost it connects again by itself, and
 * listens again to all that it listened to.
 */
export interface LiveTransport {
  /** Address of the server, without secrets. */
  readonly server: string;
  isConnected(): boolean;
  /** Told whenever the connection is lost or restored, until the returned function is called. */
  onState(listener: (connected: boolean) => void): () => void;
  /**
   * Asks a service and gives the JSON of its answer. Rejects with a ThroughlineError as `ClientTransport` says, and with
   * `unavailable` at once while there is no connection, or when it is lost meanwhile.
   */
  request(subject: string, body: unknown, timeoutMs: number): Promise<unknown>;
  /** Hears every message on some subjects, as it is sent: it may not be stored, now or ever. */
  listen(subjects: string, onMessage: (subject: string, data: Uint8Array) => void): () => void;
  close(): Promise<void>;
}

/**
 * Connects the SDK to Throughline. An implementer must reject with a ThroughlineError: `unavailable` without an answer in
 * time (with `details.closed` if there will never be one), or the code of the error reply.
 */
export interface ClientTransport {
  /** Returns the sequence of the dispatch; an id repeated within two minutes is a `duplicate` with the sequence of the first. */
  publish(
    subject: string,
    body: string | Uint8Array,
    messageId: string,
  ): Promise<{ readonly sequence: number; readonly duplicate?: boolean }>;
  request(subject: string, body: unknown, timeoutMs: number): Promise<unknown>;
  /** Calls `onMessage` for messages on these subjects, as far as the user may hear them, until the returned function is called. */
  listen?(subjects: readonly string[], onMessage: () => void): () => void;
  close(): Promise<void>;
}

/** The NATS connection of a client that also subscribes. It reconnects and resubscribes by itself. */
export interface LiveTransport {
  /** Server address without secrets. */
  readonly server: string;
  isConnected(): boolean;
  /** Calls `listener` when the connection is lost or restored, until the returned function is called. */
  onState(listener: (connected: boolean) => void): () => void;
  /** Returns the JSON of the reply. Rejects as `ClientTransport`, and with `unavailable` immediately while disconnected. */
  request(subject: string, body: unknown, timeoutMs: number): Promise<unknown>;
  /** Subscribes to messages as they are sent, which are not necessarily stored. */
  listen(subjects: string, onMessage: (subject: string, data: Uint8Array) => void): () => void;
  close(): Promise<void>;
}

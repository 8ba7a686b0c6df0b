/**
 * The queue of published results.
 *
 * An implementer must deliver every dispatch at least once to one of the consumers that share the source, and redeliver it
 * until it is acknowledged or terminated. Deliveries are concurrent. A terminated dispatch stays readable in the source.
 */
export interface DispatchSource {
  /**
   * Stores a result and returns its sequence, which a later request names as `after`.
   *
   * @param messageId idempotency key: a repetition within the dedupe window is not stored again
   */
  publish(subject: string, body: Uint8Array, messageId?: string): Promise<{ readonly sequence: number }>;

  /**
   * Delivers dispatches to `handler` until closed. The handler must not throw.
   *
   * @param hasCapacity backpressure: returns true if more may be fetched; called after each settled delivery. Dispatches in flight
   *   still arrive.
   */
  consume(
    handler: (delivery: DispatchDelivery) => void,
    hasCapacity?: () => boolean,
  ): Promise<DispatchConsumption>;
}

export interface DispatchDelivery {
  readonly subject: string;
  readonly body: Uint8Array;
  /** Increasing in order of arrival. */
  readonly sequence: number;
  /** Time of arrival, ISO 8601 in UTC. */
  readonly at: string;
  readonly messageId?: string;
  /** Headers of the message, which may name a trace. */
  readonly headers?: { get(name: string): string } | undefined;
  /** Describes a message that was stored as the reply to a request: it must not change a session. */
  readonly foreign?: string | undefined;
  /**
   * True for a message without body and headers. It may be the server's reply to a request whose sender may not publish: it
   * must not change a session. Default: false.
   */
  readonly isBare?: boolean;
  /** 1 for the first delivery by its consumer. */
  readonly delivery: number;
  ack(): void;
  /** Extends the ack deadline. */
  working(): void;
  /** Requests redelivery after `delayMs`. */
  nak(delayMs: number): void;
  /** Stops redelivery. */
  term(reason: string): void;
}

export interface DispatchConsumption {
  /** Stops fetching; resolves when no more will be delivered. */
  close(): Promise<void>;
}

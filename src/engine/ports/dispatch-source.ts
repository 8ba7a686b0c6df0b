import type { TraceContext } from '../../contracts/trace-context.js';

/**
 * Where results arrive, and what the extractor takes them from.
 *
 * An implementer must deliver every dispatch at least once, to any one of the consumers that share the source, and
 * again until it is acknowledged or terminated; it must not wait for the handler of one dispatch before it delivers
 * the next. A dispatch that was terminated is not delivered again, and stays readable in the source.
 */
export interface DispatchSource {
  /**
   * Stores a result and gives its sequence: what a later request names as `after`.
   *
   * @param messageId a repetition with the same id within the dedupe window is not stored again
   */
  publish(subject: string, body: Uint8Array, messageId?: string): Promise<{ readonly sequence: number }>;

  /** Sequence of the newest dispatch; none that was stored before this was called has a higher one. 0 for none. */
  newest(): Promise<number>;

  /**
   * Delivers dispatches to `handler` until closed. The handler must not throw.
   *
   * @param hasRoom whether more may be asked for now; asked again whenever a delivery has been answered. Dispatches
   *   already on their way still arrive.
   */
  consume(
    handler: (delivery: DispatchDelivery) => void,
    hasRoom?: () => boolean,
  ): Promise<DispatchConsumption>;
}

export interface DispatchDelivery {
  readonly subject: string;
  readonly body: Uint8Array;
  /** Place in the source: increasing, the order of arrival. */
  readonly sequence: number;
  /** Arrival, ISO 8601 in UTC. */
  readonly at: string;
  /** The id that it was published under. */
  readonly messageId?: string;
  /** The span that it was published in. */
  readonly trace?: TraceContext | undefined;
  /** Set for a message that was stored as the reply to a request, with what it is: it must change no session. */
  readonly foreign?: string | undefined;
  /**
   * True for a message without body and headers, which may be the answer of the server to a request of someone who may not
   * publish: it must change no session. Default: not.
   */
  readonly isBare?: boolean;
  /** 1 for the first delivery. */
  readonly delivery: number;
  /** Whether it was surely never delivered before, nor by a consumer that was lost and made again. */
  readonly isFirst: boolean;
  /** It has been dealt with. */
  ack(): void;
  /** It is still being worked on: the time until it is delivered again starts over. */
  working(): void;
  /** Deliver it again after `delayMs`. */
  nak(delayMs: number): void;
  /** Never deliver it again. */
  term(reason: string): void;
}

export interface DispatchConsumption {
  /** Takes no further dispatches; resolves when no more will be delivered. */
  close(): Promise<void>;
}

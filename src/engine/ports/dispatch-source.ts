import type { Role } from '../../contracts/kinds.js';
import type { Token } from '../../contracts/names.js';

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
  /** Describes a message that was stored as the reply to a request: it must not change a session. */
  readonly foreign?: string | undefined;
  /** True without body and headers: perhaps the reply to a request of a user who may not publish; it must not change a session. */
  readonly isBare?: boolean;
  /** 1 for the first delivery by its consumer. */
  readonly delivery: number;
  ack(): void;
  working(): void;
  nak(delayMs: number): void;
  term(reason: string): void;
}

export interface DispatchConsumption {
  /** Stops fetching; resolves when no more will be delivered. */
  close(): Promise<void>;
}

/**
 * Stores results that could not be used, unchanged, with the reason, until someone retries or removes them. A stored message
 * that nobody rejected, such as the reply to a request, is an entry with the code `stored_reply`.
 *
 * An implementer must return the body byte for byte, and must deduplicate a `put` that is repeated soon after. It may rely on the
 * source for the rest of a body that fills a message.
 */
export interface RejectedStore {
  put(rejected: Rejection): Promise<void>;
  /** Returns one page, newest first, without bodies. Takes constant time. */
  page(query: RejectedPageRequest): Promise<RejectedPage>;
  /** Returns one rejection with its body, or `undefined`. Throws `not_found` if a part of its body is gone. */
  get(id: number): Promise<WholeRejection | undefined>;
  /** Removes one; returns `false` if it does not exist. */
  remove(id: number): Promise<boolean>;
}

export interface Rejection {
  readonly session: Token | undefined;
  readonly role: Role | undefined;
  readonly subject: string;
  readonly sequence: number;
  /** Arrival time, equal for each delivery: identifies the dispatch together with `sequence`. */
  readonly at: string;
  readonly code: string;
  readonly reason: string;
  /** Describes the change that would make it readable. */
  readonly fix?: string;
  /** The role that the result appears to belong to, if it differs from the published one. */
  readonly meant?: Role;
  readonly body: Uint8Array;
}

/** A filter; an omitted field matches all. */
export interface RejectedSelection {
  readonly session?: Token;
  readonly role?: Role;
}

export interface RejectedPageRequest extends RejectedSelection {
  readonly limit: number;
  /** Only rejections with lower ids. */
  readonly before?: number;
}

export interface RejectedPage {
  readonly entries: readonly RejectedEntry[];
  readonly total: number;
  /** `before` of the next page; absent on the last one. */
  readonly next?: number;
}

export interface RejectedEntry extends Omit<Rejection, 'body' | keyof RejectedSelection>, RejectedSelection {
  readonly id: number;
  readonly bytes: number;
}

export interface WholeRejection extends RejectedEntry {
  readonly body: Uint8Array;
  /** Stable idempotency key of a retry, known only to readers of the store. */
  readonly retryId: string;
}

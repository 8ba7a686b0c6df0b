import type { Role } from '../../contracts/kinds.js';
import type { Token } from '../../contracts/names.js';

/**
 * Keeps results that could not be used, whole, with the reason, until someone retries or removes them.
 *
 * A stored message that nobody rejected, such as the reply to a request, is an entry as well: its code is `stored_reply`.
 *
 * An implementer must give the body back byte for byte, up to the largest message that the source accepts, and must
 * not keep the same dispatch twice when `put` is repeated soon after.
 */
export interface RejectedStore {
  put(rejected: Rejection): Promise<void>;
  /**
   * One page of rejections, the newest first, without their bodies: of all sessions and roles by default. It takes no
   * longer for how many there are. It may hold fewer than asked for, even none, while there is a next one.
   */
  page(asked: RejectedPageAsked): Promise<RejectedPage>;
  /** One rejection with its body, or `undefined`. */
  get(id: number): Promise<WholeRejection | undefined>;
  /** Removes one; `false` if it is not there. */
  remove(id: number): Promise<boolean>;
}

export interface Rejection {
  readonly session: Token | undefined;
  readonly role: Role | undefined;
  /** The subject that it was published to. */
  readonly subject: string;
  readonly sequence: number;
  /** When it arrived, the same at each delivery: with `sequence` it says which dispatch this is. */
  readonly at: string;
  readonly code: string;
  readonly reason: string;
  /** What would make it readable. */
  readonly fix?: string;
  /** The role whose result it seems to be, where it was published as that of another. */
  readonly meant?: Role;
  readonly body: Uint8Array;
}

/** Which rejections are meant; a field that is left out means any. */
export interface RejectedSelection {
  readonly session?: Token;
  readonly role?: Role;
}

export interface RejectedPageAsked extends RejectedSelection {
  readonly limit: number;
  /** Only rejections with lower ids. */
  readonly before?: number;
}

export interface RejectedPage {
  readonly entries: readonly RejectedEntry[];
  /** How many there are; where bodies are stored in parts, how many parts. */
  readonly total: number;
  /** `before` of the next page; left out on the last one. */
  readonly next?: number;
}

export interface RejectedEntry extends Omit<Rejection, 'body'> {
  /** Names it in `get` and `remove`. */
  readonly id: number;
  readonly bytes: number;
}

export interface WholeRejection extends RejectedEntry {
  readonly body: Uint8Array;
  /** Always the same for one rejection, and known only to those who may read the store: it identifies a retry. */
  readonly retryId: string;
}

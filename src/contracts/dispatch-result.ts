import type { Role } from './kinds.js';
import type { StoredRepair } from './reading/repairs.js';
import type { FactRecorded } from './session-events.js';

/** What became of a dispatch: the reply of `dispatch-show`, and what a publisher that waits gets. */
export type DispatchResult = {
  /** Its `DISPATCH` sequence. */
  readonly dispatch: number;
  /** Session sequence that the answer reflects. */
  readonly sequence: number;
} & (
  | {
      readonly status: 'recorded';
      readonly role: Role;
      readonly task: string;
      readonly facts: readonly FactOfDispatch[];
      /** Facts that it gave beyond the limit. */
      readonly factsOmitted?: number;
      /** What reading it changed or skipped; left out for nothing. */
      readonly repairs?: readonly StoredRepair[];
      /** Repairs beyond the limit. */
      readonly repairsOmitted?: number;
    }
  | {
      /** It could not be used, and is kept whole in `DISPATCH_REJECTED`. */
      readonly status: 'rejected';
      readonly role?: Role;
      /** Where it could be read. */
      readonly task?: string;
      readonly code: string;
      readonly reason: string;
      /** What would make it readable. */
      readonly fix?: string;
      /** The role whose result it seems to be, where it was published as that of another. */
      readonly meant?: Role;
    }
  /** The same result of this role and task, by its `result_id` or message id, had counted before: nothing changed. */
  | { readonly status: 'repeated'; readonly role: Role; readonly task: string }
  /**
   * It was taken in, and the session keeps nothing of it: it repeated an earlier result, or newer ones have taken its place.
   * Its log knows which.
   */
  | { readonly status: 'counted' }
);

/** A fact as its event holds it. */
export type FactOfDispatch = FactRecorded['data']['facts'][number];

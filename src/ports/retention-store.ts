import type { RetentionRules, RetentionRun } from '../contracts/retention-record.js';

/**
 * The rules of retention, and what was done by them last. Of two writers one comes first, and the other decides again on what that
 * one wrote.
 */
export interface RetentionStore {
  /**
   * The rules; none where none were ever set.
   *
   * @throws ThroughlineError `unavailable`, `permission_denied`, `config_invalid` for rules of a newer version
   */
  rules(): Promise<RetentionRules>;

  /** Replaces them by what `next` makes of them; what it throws ends it. Throws as `rules`. */
  changeRules(next: (before: RetentionRules) => RetentionRules): Promise<RetentionRules>;

  /** The last run; `undefined` before the first. Throws as `rules`. */
  run(): Promise<RetentionRun | undefined>;

  /** Replaces it. Throws as `rules`. */
  saveRun(run: RetentionRun): Promise<void>;
}

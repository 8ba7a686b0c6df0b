import type { Token } from '../contracts/names.js';
import type { StoredTelemetry, TelemetryBatch } from '../contracts/session-telemetry.js';

/**
 * Keeps what compilers have counted of each session, beside its snapshot.
 *
 * An implementer must lose nothing where several write at once, and must count a batch once, however often it comes.
 * Losing a value costs figures, never truth.
 */
export interface TelemetryStore {
  /** What is stored of a session, or `undefined`. Throws `unavailable` when the store cannot be reached. */
  load(session: Token): Promise<StoredTelemetry | undefined>;

  /**
   * Adds what a process has counted to what is stored.
   *
   * @throws ThroughlineError `unavailable` when the store cannot be reached; the batch may or may not be stored then,
   * and may come again. `conflict` when others write all the time
   */
  add(session: Token, writer: string, batch: TelemetryBatch): Promise<void>;
}

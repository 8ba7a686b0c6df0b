import type { Token } from '../contracts/names.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { SaveOutcome, SnapshotStore } from '../ports/snapshot-store.js';
import { encodeSnapshot } from '../session/snapshot.js';
import type { FoldedSession } from './session-reader.js';

/**
 * Writes snapshots after every so many folded events, off the request path: the state is turned into text in a turn
 * of its own, and no request waits for the write. A write that fails is logged and comes again with the next events.
 */
export interface SnapshotWriterOptions {
  readonly snapshots: SnapshotStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Folded events after which a snapshot is written. */
  readonly every: number;
}

export class SnapshotWriter {
  readonly #options: SnapshotWriterOptions;
  readonly #running = new Map<Token, Promise<void>>();

  constructor(options: SnapshotWriterOptions) {
    this.#options = options;
  }

  /** Schedules a write when enough events have been folded since the last one. */
  folded(folded: FoldedSession): void {
    const { session } = folded;
    if (folded.sinceSnapshot < this.#options.every || this.#running.has(session)) return;
    const running = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.write(folded))
      .then(() => undefined)
      .catch((error: unknown) => {
        this.#options.logger.warn(
          { session, err: error },
          'snapshot not written: the next load replays more events',
        );
      })
      .finally(() => this.#running.delete(session));
    this.#running.set(session, running);
  }

  /** Writes a snapshot of the state as it is now. */
  async write(folded: FoldedSession): Promise<SaveOutcome> {
    const { snapshots, clock, logger } = this.#options;
    const { session, state } = folded;
    const { sequence } = state;
    const text = encodeSnapshot(state, clock());
    const events = folded.sinceSnapshot;
    folded.sinceSnapshot = 0;
    const outcome = await snapshots.save(session, { sequence, text }).catch((error: unknown) => {
      folded.sinceSnapshot += events;
      throw error;
    });
    const fields = { session, sequence, bytes: text.length, outcome };
    if (outcome === 'too_large') logger.warn(fields, 'snapshot not written: larger than the server accepts');
    else logger.debug(fields, 'snapshot written');
    return outcome;
  }

  /** Waits for the writes that run. */
  async stop(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}

import { codeOf } from '../../contracts/errors.js';
import type { LogKind } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { Clock, Logger } from '../ports/clients.js';
import type { SaveOutcome, SnapshotStore } from '../ports/session-log.js';
import type { Folded, Folding, Sequenced } from './state-reader.js';

/**
 * Writes a snapshot every `every` folded events, off the request path. A failed write is logged and retried with the next
 * events.
 */
export interface SnapshotWriterOptions<State> {
  readonly folding: { readonly format: { readonly kind: LogKind } } & Pick<Folding<State, never>, 'encode'>;
  readonly snapshots: SnapshotStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly every: number;
}

export class SnapshotWriter<State extends Sequenced> {
  readonly #options: SnapshotWriterOptions<State>;
  readonly counts = { written: 0, failed: 0 };
  readonly #running = new Map<Token, Promise<void>>();

  constructor(options: SnapshotWriterOptions<State>) {
    this.#options = options;
  }

  /** Schedules a write when enough events have been folded since the last one. */
  folded(folded: Folded<State>): void {
    const { key } = folded;
    if (folded.sinceSnapshot < this.#options.every || this.#running.has(key)) return;
    const running = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.write(folded))
      .then(() => undefined)
      .catch((error: unknown) => {
        this.#options.logger.warn(
          { [this.#options.folding.format.kind]: key, code: codeOf(error), err: error },
          'snapshot not written: the next load replays more events',
        );
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, running);
  }

  async write(folded: Folded<State>): Promise<SaveOutcome> {
    const { snapshots, clock, logger, folding } = this.#options;
    const { key, state } = folded;
    const { sequence } = state;
    const text = folding.encode(state, clock());
    const events = folded.sinceSnapshot;
    folded.sinceSnapshot = 0;
    const outcome = await snapshots.save(key, { sequence, text }).catch((error: unknown) => {
      folded.sinceSnapshot += events;
      this.counts.failed += 1;
      throw error;
    });
    if (outcome === 'saved') this.counts.written += 1;
    if (outcome === 'too_large') this.counts.failed += 1;
    const fields = { [folding.format.kind]: key, sequence, bytes: text.length, outcome };
    if (outcome === 'too_large')
      logger.warn({ ...fields, code: outcome }, 'snapshot not written: larger than the server accepts');
    else logger.debug?.(fields, 'snapshot written');
    return outcome;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}

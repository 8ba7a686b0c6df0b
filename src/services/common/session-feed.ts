import { codeOf } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { Logger } from '../../engine/ports/logger.js';
import type { SessionIndex } from '../../engine/ports/session-index.js';
import type { ActiveSession, SessionActivity } from '../../engine/ports/session-lifecycle.js';
import type { Unwatch } from '../../engine/ports/session-log.js';
import { Backoff } from '../../engine/runtime/pauses.js';
import { withinDeadline } from '../../shared/deadline.js';
import type { SessionTable } from './session-table.js';

/**
 * Keeps a table of sessions up to date: reads the index, compares it with the logs, then follows hints. It compares again
 * after each reconnect and periodically, because hints may be lost.
 */
interface SessionFeedOptions {
  readonly table: SessionTable;
  readonly log: Pick<SessionActivity, 'activity' | 'follow'>;
  readonly index: SessionIndex;
  readonly logger: Logger;
  /** The table's clock. */
  readonly now: () => number;
  readonly onReconnect: (listener: () => void) => Unwatch;
  /** Default: ten minutes. */
  readonly compareEveryMs?: number;
}

interface FeedListener {
  readonly moved: (session: Token) => void;
  /** Sessions that are ahead of their index entries, newest first. */
  readonly behind: (sessions: readonly ActiveSession[]) => void;
  /** Sessions with an index entry but no log. */
  readonly gone: (sessions: readonly Token[]) => void;
}

const COMPARE_EVERY_MS = 600_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const STOP_MS = 200;

export class SessionFeed {
  readonly #options: SessionFeedOptions;
  readonly #listeners = new Set<FeedListener>();
  readonly #stopping = new AbortController();
  readonly #undo: Unwatch[] = [];
  #epoch: string | undefined;
  #through = 0;
  #comparing: Promise<void> | undefined;
  #wantsAgain = false;
  #isDeaf = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SessionFeedOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#isReady = resolve;
    });
  }

  /** Resolves after the first comparison of the index with the logs. */
  readonly ready: Promise<void>;
  #isReady: () => void = () => {};

  /** Completes the table, even if the user may not subscribe to events. */
  async catchUp(): Promise<void> {
    await this.ready;
    if (this.#isDeaf) await this.compare();
  }

  add(listener: FeedListener): void {
    this.#listeners.add(listener);
  }

  start(): void {
    const { log, index, table, onReconnect, compareEveryMs = COMPARE_EVERY_MS } = this.#options;
    // Subscribe first, so that nothing is missed between the comparison and the hints.
    this.#undo.push(
      log.follow(
        (session) => {
          this.#isDeaf = false;
          table.moved(session);
          for (const listener of this.#listeners) listener.moved(session);
        },
        () => {
          this.#isDeaf = true;
        },
      ),
      index.watch({
        written: (entry) => table.stored(entry),
        removed: (session) => table.removed(session),
      }),
      onReconnect(() => void this.compare()),
    );
    this.#timer = setInterval(() => void this.compare(), compareEveryMs);
    void this.compare();
  }

  /** Compares again after a comparison that is running, which may miss recent changes. */
  compare(): Promise<void> {
    this.#wantsAgain = true;
    this.#comparing ??= this.#compareUntilDone().finally(() => {
      this.#comparing = undefined;
    });
    return this.#comparing;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    for (const undo of this.#undo) undo();
    // The comparison only reads: do not wait for its timeout if the server is gone.
    await withinDeadline(STOP_MS, this.#comparing ?? Promise.resolve());
  }

  async #compareUntilDone(): Promise<void> {
    const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    while (this.#wantsAgain && !this.#stopping.signal.aborted) {
      this.#wantsAgain = false;
      try {
        await this.#compareOnce();
        this.#isReady();
        backoff.reset();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#options.logger.warn(
          { code: codeOf(error), retryInMs: backoff.nextMs, err: error },
          'the index of sessions could not be compared with their logs',
        );
        this.#wantsAgain = true;
        await backoff.pause(this.#stopping.signal);
      }
    }
  }

  async #compareOnce(): Promise<void> {
    const { log, index, table, now } = this.#options;
    const epoch = await index.epoch();
    // An index that did not exist may have been created and lost since.
    if (epoch === undefined || epoch !== this.#epoch) {
      table.indexLost();
      this.#through = 0;
    }
    for await (const { entries, through } of index.read(this.#through)) {
      for (const entry of entries) table.stored(entry);
      this.#through = through;
      if (this.#stopping.signal.aborted) return;
    }
    this.#epoch = epoch;
    const begun = now();
    const sessions = await log.activity();
    if (this.#stopping.signal.aborted) return;
    const { behind, gone } = table.compared(sessions, begun);
    for (const listener of this.#listeners) {
      listener.behind(behind);
      listener.gone(gone);
    }
  }
}

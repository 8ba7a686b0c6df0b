import { codeOf } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { SessionReader, SessionSnapshotWriter } from '../../engine/folding/session-folding.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { ActiveSession, SessionIndex } from '../../engine/ports/session-log.js';
import { Backoff, limitedWarnings, OneAtATime, pause } from '../../engine/runtime/pacing.js';
import { sessionFigures } from '../../memory/session/plan-status.js';
import { type Forgetting, generationGuard } from '../common/process-parts.js';
import type { SessionTable } from '../common/session-table.js';
import type { Archiver } from '../lifecycle/archive-session.js';

/**
 * Folds each session that went quiet or has been busy for long: writes its index entry, and its snapshot once it rests, so
 * that the next load is fast. Several keepers may run; they write the same values.
 */
interface SessionKeeperOptions {
  readonly table: SessionTable;
  readonly reader: Pick<SessionReader, 'load'>;
  readonly writer: Pick<SessionSnapshotWriter, 'write'>;
  readonly index: SessionIndex;
  readonly lifecycle: Forgetting & Pick<SessionLifecycle, 'archived'>;
  readonly archiver: Pick<Archiver, 'settle'>;
  readonly logger: Logger;
  readonly times: QuietTimes;
  readonly now: () => number;
}

/** Backoff after a failure, in milliseconds, for all sessions: they share the store. */
const PAUSE_MS = { first: 1000, longest: 60_000 };
/** Concurrent folds, which compete with other work for the CPU. */
const AT_ONCE = 4;
/** Between two steps of a fold: commands and prompts in the same process wait for one step, not for a whole log. */
const STEP_PAUSE_MS = 25;

export class SessionKeeper {
  readonly #options: SessionKeeperOptions;
  readonly #quiet: QuietSessions;
  readonly #warn: ReturnType<typeof limitedWarnings>;
  readonly counts = { entries: 0, snapshots: 0, failed: 0 };
  readonly #removed = new Set<Token>();
  readonly #rounds = new OneAtATime(() => this.#work());
  readonly #backoff = new Backoff(PAUSE_MS.first, PAUSE_MS.longest);
  #resumesAt = 0;

  constructor(options: SessionKeeperOptions) {
    this.#options = options;
    this.#quiet = new QuietSessions(options.times);
    this.#warn = limitedWarnings(options.logger, options.now);
  }

  get waiting(): number {
    return this.#quiet.size;
  }

  moved(session: Token): void {
    this.#quiet.moved(session, this.#options.now());
  }

  outdated(sessions: readonly ActiveSession[]): void {
    for (const { session, at } of sessions) this.#quiet.moved(session, Date.parse(at));
  }

  /** Handles sessions without a log: their index entries must go. */
  removed(sessions: readonly Token[]): void {
    for (const session of sessions) this.#removed.add(session);
  }

  tick(): Promise<void> {
    return this.#rounds.run();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  async #work(): Promise<void> {
    const isPaused = () => this.#rounds.isStopping || this.#options.now() < this.#resumesAt;
    for (const session of this.#removed) {
      if (isPaused()) return;
      await this.#remove(session);
    }
    while (!isPaused()) {
      const due = this.#quiet.take(this.#options.now(), AT_ONCE);
      if (due.length === 0) return;
      await Promise.all(due.map((session) => this.#keep(session)));
      if (!isPaused()) this.#backoff.reset();
    }
  }

  async #remove(session: Token): Promise<void> {
    this.#removed.delete(session);
    // The session may have started again.
    if (this.#options.table.get(session) !== undefined) return;
    await this.#options.index.remove(session).catch((error: unknown) => this.#failed(session, error));
  }

  async #keep({ session, rests }: Due): Promise<void> {
    const { table, reader, index, writer, lifecycle, archiver, now } = this.#options;
    // Nothing new is written for a session that is being forgotten.
    if (lifecycle.forgotten(session)?.status === 'forgetting') return;
    const begun = now();
    try {
      const assertSameGeneration = await generationGuard(lifecycle, session);
      const { folded } = await reader.load(session, () => pause(this.#rounds.isStopping ? 0 : STEP_PAUSE_MS));
      const { state } = folded;
      const { sequence } = state;
      const isThere = sequence > 0;
      const figures = sessionFigures(state);
      table.folded(session, sequence, figures, begun);
      // Its record is lost, without which extractors would accept results.
      if (state.charter.archived !== undefined && lifecycle.archived(session) === undefined)
        await archiver.settle(session);
      const row = table.get(session);
      if (isThere && row !== undefined && row.stored < sequence) {
        const at = new Date(row.at).toISOString();
        const entry = { v: 1, sequence, at, figures } as const;
        await assertSameGeneration();
        const outcome = await index.put(entry);
        table.stored(entry);
        if (outcome === 'saved') this.counts.entries += 1;
      }
      if (rests && isThere && folded.sinceSnapshot > 0) {
        const outcome = await writer.write(folded);
        if (outcome === 'saved') this.counts.snapshots += 1;
      }
    } catch (error) {
      this.#failed(session, error);
      this.#quiet.moved(session, now());
    }
  }

  #failed(session: Token, error: unknown): void {
    this.counts.failed += 1;
    const { now } = this.#options;
    if (now() >= this.#resumesAt) this.#resumesAt = now() + this.#backoff.take();
    const code = codeOf(error);
    const fields = { session, code, err: error };
    this.#warn(fields, 'the index entry of a session could not be brought up to date', code);
  }
}

interface QuietTimes {
  /** Idle time after which a session's index entry is written. */
  readonly quietMs: number;
  readonly busyMs: number;
  /** Idle time after which a session's snapshot is written. */
  readonly restMs: number;
}

interface Waiting {
  /** First event since the entry was written, and the last event. */
  first: number;
  last: number;
  isUnwritten: boolean;
}

interface Due {
  readonly session: Token;
  readonly rests: boolean;
}

/** Schedules folds: for sessions that went quiet, and periodically for those that do not. */
export class QuietSessions {
  readonly #times: QuietTimes;
  readonly #waiting = new Map<Token, Waiting>();

  constructor(times: QuietTimes) {
    this.#times = times;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** @param at in milliseconds since 1970 */
  moved(session: Token, at: number): void {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) this.#waiting.set(session, { first: at, last: at, isUnwritten: true });
    else {
      if (!waiting.isUnwritten) waiting.first = at;
      waiting.isUnwritten = true;
      waiting.last = Math.max(waiting.last, at);
    }
  }

  /** Takes at most `limit` due sessions. The caller must report a failed one with `moved`. */
  take(now: number, limit: number): Due[] {
    const { quietMs, busyMs, restMs } = this.#times;
    const due: Due[] = [];
    for (const [session, waiting] of this.#waiting) {
      if (due.length >= limit) break;
      const quiet = now - waiting.last;
      if (quiet >= restMs) this.#waiting.delete(session);
      else if (waiting.isUnwritten && (quiet >= quietMs || now - waiting.first >= busyMs))
        waiting.isUnwritten = false;
      else continue;
      due.push({ session, rests: quiet >= restMs });
    }
    return due;
  }
}

import { codeOf } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { Logger } from '../../ports/logger.js';
import type { SessionLog } from '../../ports/session-log.js';
import type { TelemetryStore } from '../../ports/telemetry-store.js';
import type { Forgetting } from '../common/forgotten-results.js';
import type { Telemetry } from './telemetry.js';

/**
 * Writes what was counted every two seconds and at the end, off the request path. A process that is killed loses the
 * counts of its last two seconds.
 */
export interface TelemetryWriterOptions {
  readonly telemetry: Telemetry;
  readonly store: TelemetryStore;
  readonly log: Pick<SessionLog, 'read'>;
  readonly logger: Logger;
  /** Default: no session was ever forgotten. */
  readonly lifecycle?: Forgetting;
  /** Milliseconds between two rounds. Default: 2000. */
  readonly everyMs?: number;
}

const EVERY_MS = 2000;

export class TelemetryWriter {
  readonly #options: TelemetryWriterOptions;
  readonly #timer: NodeJS.Timeout;
  #round: Promise<void> = Promise.resolve();
  #writes = true;

  constructor(options: TelemetryWriterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.write(), options.everyMs ?? EVERY_MS);
    this.#timer.unref();
  }

  /** Writes what was counted until now, after the round that is under way. What cannot be written stays for the next. */
  write(): Promise<void> {
    this.#round = this.#round.then(() => this.#writeAll());
    return this.#round;
  }

  /** The last round. */
  stop(): Promise<void> {
    clearInterval(this.#timer);
    return this.write();
  }

  async #writeAll(): Promise<void> {
    const { telemetry, logger } = this.#options;
    try {
      for (const session of telemetry.sessions()) await this.#write(session);
      this.#writes = true;
    } catch (error) {
      // Once for all rounds that fail one after another.
      if (this.#writes) logger.warn({ code: codeOf(error), err: error }, 'telemetry not written: it is kept');
      this.#writes = false;
    }
  }

  async #write(session: Token): Promise<void> {
    const { telemetry, store, log, lifecycle } = this.#options;
    const batch = telemetry.seal(session);
    if (batch === undefined) return;
    if (lifecycle?.forgotten(session)?.status === 'forgetting') return telemetry.done(session);
    // Anyone may name a session that does not exist: nothing is stored for it.
    const { through } = await log.read(session, { after: 0, limit: 1 });
    if (through > 0) await store.add(session, telemetry.writer, batch);
    telemetry.done(session);
  }
}

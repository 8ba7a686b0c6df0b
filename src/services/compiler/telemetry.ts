import { added, NO_TELEMETRY, type SessionTelemetry } from '../../contracts/compile-request.js';
import type { ErrorCode } from '../../contracts/error-codes.js';
import { codeOf } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import type { Logger } from '../../engine/ports/clients.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import type { TelemetryStore } from '../../engine/ports/telemetry-store.js';
import { OneAtATime } from '../../engine/runtime/batched.js';
import type { Forgetting } from '../common/open-sessions.js';

interface TelemetryOptions {
  readonly store: TelemetryStore;
  readonly log: Pick<SessionLog, 'read'>;
  readonly logger: Logger;
  /** Default: no session is forgotten. */
  readonly lifecycle?: Forgetting;
  /** Interval in milliseconds. Default: 2000. */
  readonly everyMs?: number;
}

const EVERY_MS = 2000;
/** Sessions with unwritten counts; beyond that the oldest counts are dropped. */
const MAX_SESSIONS = 500;

/**
 * Counts compiles by session, and writes the counts every two seconds and at the end, off the request path. A killed process loses
 * up to two seconds; counts whose write got no answer may count twice.
 */
export class Telemetry {
  readonly #options: TelemetryOptions;
  readonly #waiting = new Map<Token, SessionTelemetry>();
  readonly #timer: NodeJS.Timeout;
  readonly #writing = new OneAtATime(() => this.#writeAll());
  #writes = true;

  constructor(options: TelemetryOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#writing.run(), options.everyMs ?? EVERY_MS);
    this.#timer.unref();
  }

  compiled(session: Token, reply: CompileReply, ms: number): void {
    const { mode, reason } = reply.kind === 'dispatch' ? reply.ledger : { mode: 'none' };
    const { wanted, used } = reply.budget;
    this.#count(session, {
      ...NO_TELEMETRY,
      compiles: 1,
      ledgerModes: { [mode]: 1 },
      ...(reason !== undefined && { fallbacks: { [reason]: 1 } }),
      shortened: used < wanted ? 1 : 0,
      tokensWanted: wanted,
      tokensUsed: used,
      retrievalMs: ms,
      retrievalMaxMs: ms,
    });
  }

  failed(session: Token, code: ErrorCode): void {
    this.#count(session, { ...NO_TELEMETRY, errors: { [code]: 1 } });
  }

  /** Writes what is left. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing.stop();
    await this.#writing.run();
  }

  #count(session: Token, more: SessionTelemetry): void {
    const counts = this.#waiting.get(session);
    this.#waiting.set(session, counts === undefined ? more : added(counts, more));
    const [longest] = this.#waiting.keys();
    if (this.#waiting.size > MAX_SESSIONS && longest !== undefined) this.#waiting.delete(longest);
  }

  /** Counts that cannot be written stay for the next round. */
  async #writeAll(): Promise<void> {
    const { logger } = this.#options;
    for (const [session, counts] of [...this.#waiting]) {
      this.#waiting.delete(session);
      try {
        await this.#write(session, counts);
        this.#writes = true;
      } catch (error) {
        this.#count(session, counts);
        // Warn once per outage.
        if (this.#writes)
          logger.warn({ code: codeOf(error), err: error }, 'telemetry not written: it is kept');
        this.#writes = false;
        return;
      }
    }
  }

  async #write(session: Token, counts: SessionTelemetry): Promise<void> {
    const { store, log, lifecycle } = this.#options;
    if (lifecycle?.forgotten(session)?.status === 'forgetting') return;
    // Nothing is stored for a session that does not exist, since anyone may name one.
    const { through } = await log.read(session, { after: 0, limit: 1 });
    if (through > 0) await store.add(session, counts);
  }
}

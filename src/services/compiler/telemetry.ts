import { randomUUID } from 'node:crypto';
import {
  added,
  noTelemetry,
  type SessionTelemetry,
  type TelemetryBatch,
  type UnwrittenTelemetry,
} from '../../contracts/compile-request.js';
import type { ErrorCode } from '../../contracts/error-codes.js';
import { codeOf } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import type { Logger } from '../../engine/ports/clients.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import type { TelemetryStore } from '../../engine/ports/telemetry-store.js';
import type { Forgetting } from '../common/open-sessions.js';

/** Sessions with unwritten counts; beyond that the oldest counts are dropped. */
const MAX_SESSIONS = 500;

interface Waiting {
  /** The batch being written. Immutable, so that a retry is idempotent. */
  sealed?: TelemetryBatch;
  open?: TelemetryBatch;
}

/** Counts compiles by session until the counts are written. */
export class Telemetry {
  /** Idempotency key of this process' batches, together with their number. */
  readonly writer = randomUUID();
  readonly #waiting = new Map<Token, Waiting>();
  #number = 0;

  compiled(session: Token, reply: CompileReply, ms: number): void {
    const { mode, reason } = reply.kind === 'dispatch' ? reply.ledger : { mode: 'none' };
    const { wanted, used } = reply.budget;
    this.#count(session, {
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
    this.#count(session, { errors: { [code]: 1 } });
  }

  /** Sessions with unwritten counts, oldest first. */
  sessions(): Token[] {
    return [...this.#waiting.keys()];
  }

  /** Returns the oldest unwritten batch of a session and makes it immutable. */
  seal(session: Token): TelemetryBatch | undefined {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) return undefined;
    if (waiting.sealed === undefined && waiting.open !== undefined) {
      waiting.sealed = waiting.open;
      delete waiting.open;
    }
    return waiting.sealed;
  }

  done(session: Token): void {
    const waiting = this.#waiting.get(session);
    delete waiting?.sealed;
    if (waiting?.open === undefined) this.#waiting.delete(session);
  }

  toJSON(): UnwrittenTelemetry {
    const batches = [...this.#waiting].map(
      ([session, { sealed, open }]) =>
        [session, [sealed, open].filter((each) => each !== undefined)] as const,
    );
    return { writer: this.writer, unwritten: Object.fromEntries(batches) };
  }

  #count(session: Token, more: Partial<SessionTelemetry>): void {
    const waiting = this.#waiting.get(session) ?? {};
    const { counts } = waiting.open ?? noTelemetry();
    this.#number += 1;
    waiting.open = { number: this.#number, counts: added(counts, { ...noTelemetry().counts, ...more }) };
    this.#waiting.set(session, waiting);
    const [longest] = this.#waiting.keys();
    if (this.#waiting.size > MAX_SESSIONS && longest !== undefined) this.#waiting.delete(longest);
  }
}

/** Writes counts every two seconds and at the end, off the request path. A killed process loses up to two seconds. */
interface TelemetryWriterOptions {
  readonly telemetry: Telemetry;
  readonly store: TelemetryStore;
  readonly log: Pick<SessionLog, 'read'>;
  readonly logger: Logger;
  /** Default: no session is forgotten. */
  readonly lifecycle?: Forgetting;
  /** Interval in milliseconds. Default: 2000. */
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

  /** Writes the counts after the current round. Counts that cannot be written stay for the next one. */
  write(): Promise<void> {
    this.#round = this.#round.then(() => this.#writeAll());
    return this.#round;
  }

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
      // Warn once per outage.
      if (this.#writes) logger.warn({ code: codeOf(error), err: error }, 'telemetry not written: it is kept');
      this.#writes = false;
    }
  }

  async #write(session: Token): Promise<void> {
    const { telemetry, store, log, lifecycle } = this.#options;
    const batch = telemetry.seal(session);
    if (batch === undefined) return;
    if (lifecycle?.forgotten(session)?.status === 'forgetting') return telemetry.done(session);
    // Nothing is stored for a session that does not exist, since anyone may name one.
    const { through } = await log.read(session, { after: 0, limit: 1 });
    if (through > 0) await store.add(session, telemetry.writer, batch);
    telemetry.done(session);
  }
}

import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../contracts/error-codes.js';
import { codeOf } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import {
  added,
  noTelemetry,
  type SessionTelemetry,
  type TelemetryBatch,
  type UnwrittenTelemetry,
} from '../../contracts/session-telemetry.js';
import type { Logger } from '../../engine/ports/logger.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import type { TelemetryStore } from '../../engine/ports/telemetry-store.js';
import type { Forgetting } from '../common/forgotten-results.js';

/** Sessions whose counts wait to be written; beyond them the one that has waited longest is forgotten. */
const MAX_SESSIONS = 500;

/** What a session's counts stand in until they are written. */
interface Waiting {
  /** Is being written, and changes no more: should the write come again, it adds the same. */
  sealed?: TelemetryBatch;
  open?: TelemetryBatch;
}

/** Counts what a compiler does, by session, until it is written. */
export class Telemetry {
  /** Names this process among those that write. */
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

  /** Sessions with counts that are not written, the one that has waited longest first. */
  sessions(): Token[] {
    return [...this.#waiting.keys()];
  }

  /** The oldest batch of a session that is not written; it changes no more. */
  seal(session: Token): TelemetryBatch | undefined {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) return undefined;
    if (waiting.sealed === undefined && waiting.open !== undefined) {
      waiting.sealed = waiting.open;
      delete waiting.open;
    }
    return waiting.sealed;
  }

  /** The sealed batch of a session need not be kept any longer. */
  done(session: Token): void {
    const waiting = this.#waiting.get(session);
    delete waiting?.sealed;
    if (waiting?.open === undefined) this.#waiting.delete(session);
  }

  /** What is not written. */
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

/**
 * Writes what was counted every two seconds and at the end, off the request path. A process that is killed loses the
 * counts of its last two seconds.
 */
interface TelemetryWriterOptions {
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

import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../contracts/error-codes.js';
import type { Token } from '../../contracts/names.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import {
  added,
  noTelemetry,
  type SessionTelemetry,
  type TelemetryBatch,
  type UnwrittenTelemetry,
} from '../../contracts/session-telemetry.js';

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

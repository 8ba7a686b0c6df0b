import { LRUCache } from 'lru-cache';
import type { ErrorCode } from '../../contracts/error-codes.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';

/**
 * Counts what the compiler does, by session. Kept in memory and out of the session's stream, so that asking for a
 * prompt writes nothing; it shows in the statistics of the micro service, and starts over with the process. What
 * dispatches came to is counted by the fold and needs no telemetry.
 */
export interface SessionTelemetry {
  compiles: number;
  errors: Record<string, number>;
  ledgerModes: Record<string, number>;
  /** Prompts that went without the progress ledger, by reason. */
  fallbacks: Record<string, number>;
  rebuilds: number;
  /** Prompts that something was left out of, to keep within their room. */
  shortened: number;
  /** Tokens of all prompts if nothing had been left out of any, and as they are. */
  tokensWanted: number;
  tokensUsed: number;
  /** Time from request to reply, in milliseconds: total and highest. */
  retrievalMs: number;
  retrievalMaxMs: number;
}

/** Sessions counted; beyond them the one asked for least recently is forgotten. */
const MAX_SESSIONS = 200;

export class Telemetry {
  readonly #sessions = new LRUCache<string, SessionTelemetry>({ max: MAX_SESSIONS });

  compiled(session: string, reply: CompileReply, ms: number): void {
    const counts = this.#of(session);
    counts.compiles += 1;
    bump(counts.ledgerModes, reply.kind === 'dispatch' ? reply.ledger.mode : 'none');
    if (reply.kind === 'dispatch' && reply.ledger.reason !== undefined)
      bump(counts.fallbacks, reply.ledger.reason);
    const { wanted, used } = reply.budget;
    if (used < wanted) counts.shortened += 1;
    counts.tokensWanted += wanted;
    counts.tokensUsed += used;
    counts.retrievalMs += ms;
    counts.retrievalMaxMs = Math.max(counts.retrievalMaxMs, ms);
  }

  failed(session: string, code: ErrorCode): void {
    bump(this.#of(session).errors, code);
  }

  rebuilt(session: string): void {
    this.#of(session).rebuilds += 1;
  }

  /** Counts by session, the one asked for last at the end. */
  toJSON(): Readonly<Record<string, SessionTelemetry>> {
    return Object.fromEntries([...this.#sessions.entries()].reverse());
  }

  #of(session: string): SessionTelemetry {
    const counts = this.#sessions.get(session) ?? {
      compiles: 0,
      errors: {},
      ledgerModes: {},
      fallbacks: {},
      rebuilds: 0,
      shortened: 0,
      tokensWanted: 0,
      tokensUsed: 0,
      retrievalMs: 0,
      retrievalMaxMs: 0,
    };
    this.#sessions.set(session, counts);
    return counts;
  }
}

function bump(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

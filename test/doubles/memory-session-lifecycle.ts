import type { Archived, Forgotten } from '../../src/contracts/lifecycle-record.js';
import type { Token } from '../../src/contracts/names.js';
import type { SessionLifecycle, SessionRecord } from '../../src/engine/ports/session-lifecycle.js';

export class MemorySessionLifecycle implements SessionLifecycle {
  readonly #records = new Map<Token, SessionRecord>();
  readonly #listeners = new Set<(session: Token) => void>();

  archived(session: Token): Archived | undefined {
    return this.#records.get(session)?.archived;
  }

  forgotten(session: Token): Forgotten | undefined {
    return this.#records.get(session)?.forgotten;
  }

  refreshed(): undefined {}

  unfinished(): readonly Token[] {
    return this.#where(({ forgotten }) => forgotten?.status === 'forgetting');
  }

  archiving(): readonly Token[] {
    return this.#where(({ archived }) => archived?.pending === true);
  }

  onForgotten(listener: (session: Token) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async change(session: Token, next: (there: SessionRecord) => SessionRecord): Promise<SessionRecord> {
    const there = this.#records.get(session) ?? {};
    const { archived, forgotten } = next(there);
    const record = { ...(archived && { archived }), ...(forgotten && { forgotten }) };
    this.#records.set(session, record);
    if (forgotten !== undefined && forgotten.status !== there.forgotten?.status)
      for (const listener of [...this.#listeners]) listener(session);
    return record;
  }

  #where(is: (record: SessionRecord) => boolean): Token[] {
    return [...this.#records].flatMap(([session, record]) => (is(record) ? [session] : []));
  }
}

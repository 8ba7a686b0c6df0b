import type { Archived, Forgotten } from '../../src/contracts/lifecycle-record.js';
import { forgottenKey, type Token } from '../../src/contracts/names.js';
import type {
  DecideArchived,
  ForgottenAt,
  LifecycleChange,
  NextRecord,
  SessionLifecycle,
} from '../../src/engine/ports/session-lifecycle.js';

export class MemorySessionLifecycle implements SessionLifecycle {
  readonly #archived = new Map<Token, Archived>();
  readonly #forgotten = new Map<string, Forgotten>();
  readonly #listeners = new Set<(change: LifecycleChange) => void>();

  archived(session: Token): Archived | undefined {
    return this.#archived.get(session);
  }

  forgotten(session: Token): Forgotten | undefined {
    return this.#forgotten.get(forgottenKey(session));
  }

  refreshed(): undefined {}

  unfinished(): readonly Token[] {
    return [...this.#forgotten.values()].flatMap(({ session }) => session ?? []);
  }

  archiving(): readonly Token[] {
    return [...this.#archived].flatMap(([session, { pending }]) => (pending ? [session] : []));
  }

  onChange(listener: (change: LifecycleChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async change(session: Token, decide: DecideArchived): Promise<boolean> {
    const next = decide(this.#archived.get(session));
    if (next === 'keep') return false;
    if (next === 'remove') this.#remove(session);
    else {
      this.#archived.set(session, { v: 1, status: 'archived', ...next });
      this.#tell({ kind: 'archived', session });
    }
    return true;
  }

  async forgetting(session: Token, given: ForgottenAt | NextRecord): Promise<boolean> {
    const before = this.forgotten(session);
    const record = typeof given === 'function' ? given(before) : given;
    if (record === undefined) return false;
    this.#forgotten.set(forgottenKey(session), {
      ...{ v: 1, status: 'forgetting', ...record, session },
      dispatches: Math.max(record.dispatches, before?.dispatches ?? 0),
      sequence: Math.max(record.sequence, before?.sequence ?? 0),
    });
    this.#tell({ kind: 'forgetting', session });
    this.#remove(session);
    return true;
  }

  async forgot(
    session: Token,
    at: string,
    ownsRecord: (there: Forgotten | undefined) => boolean = () => true,
  ): Promise<boolean> {
    if (!ownsRecord(this.forgotten(session))) return false;
    const { dispatches = 0, sequence = 0 } = this.forgotten(session) ?? {};
    this.#forgotten.set(forgottenKey(session), { v: 1, status: 'forgotten', at, dispatches, sequence });
    this.#tell({ kind: 'forgotten' });
    return true;
  }

  async expire(olderThan: string): Promise<number> {
    const old = [...this.#forgotten].filter(([, { status, at }]) => status === 'forgotten' && at < olderThan);
    for (const [key] of old) this.#forgotten.delete(key);
    return old.length;
  }

  #remove(session: Token): void {
    if (this.#archived.delete(session)) this.#tell({ kind: 'reopened', session });
  }

  #tell(change: LifecycleChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

import type { Archived } from '../../src/contracts/lifecycle-record.js';
import type { Token } from '../../src/contracts/names.js';
import type { DecideArchived } from '../../src/engine/ports/session-lifecycle.js';
import { MemorySessionLifecycle } from './memory-session-lifecycle.js';

/** Lifecycle records as seen by a process that is notified late: it knows its own reads and writes, the rest after `notice`. */
export class LateSessionLifecycle extends MemorySessionLifecycle {
  readonly #records: MemorySessionLifecycle;
  readonly #names: readonly Token[];
  readonly #seen = new Map<Token, Archived | undefined>();
  /** Waits before each change. */
  readonly #turn: () => Promise<unknown>;

  constructor(records: MemorySessionLifecycle, names: readonly Token[], turn: () => Promise<unknown>) {
    super();
    this.#records = records;
    this.#names = names;
    this.#turn = turn;
    this.notice();
  }

  notice(): void {
    for (const name of this.#names) this.#see(name);
  }

  override archived(session: Token): Archived | undefined {
    return this.#seen.get(session);
  }

  override async change(session: Token, decide: DecideArchived): Promise<boolean> {
    await this.#turn();
    const isChanged = await this.#records.change(session, (there) => {
      this.#see(session);
      return decide(there);
    });
    this.#see(session);
    return isChanged;
  }

  #see(session: Token): void {
    this.#seen.set(session, this.#records.archived(session));
  }
}

import type { Token } from '../../src/contracts/names.js';
import {
  type ErasedCounts,
  type Marks,
  NOTHING_ERASED,
  type SessionEraser,
} from '../../src/engine/ports/session-lifecycle.js';

/** Result counts per name, in memory. Sessions have no events. */
export class MemorySessionEraser implements SessionEraser {
  readonly dispatches: Map<string, number>;

  constructor(dispatches: Readonly<Record<string, number>>) {
    this.dispatches = new Map(Object.entries(dispatches));
  }

  async check(): Promise<void> {}

  async marks(..._: Parameters<SessionEraser['marks']>): Promise<Marks> {
    return { dispatches: 0, sequence: 0 };
  }

  async lastResultAt(_: Token): Promise<string | undefined> {
    return '2025-01-01T00:00:00.000Z';
  }

  async count(session: Token): Promise<ErasedCounts> {
    return { ...NOTHING_ERASED, dispatches: this.dispatches.get(session) ?? 0 };
  }

  async erase(...[session]: Parameters<SessionEraser['erase']>): Promise<ErasedCounts> {
    const erased = await this.count(session);
    this.dispatches.delete(session);
    return erased;
  }

  async rewrite(): Promise<void> {}

  async eraseLearnings(): Promise<void> {}
}

import type { Token } from '../../src/contracts/names.js';
import {
  ERASED_KINDS,
  type ErasedCounts,
  type Marks,
  type SessionEraser,
} from '../../src/engine/ports/session-lifecycle.js';
import { recordOf } from '../../src/shared/text.js';

/** Result counts per name, in memory. Sessions have no events. */
export class MemorySessionEraser implements SessionEraser {
  readonly dispatches: Map<string, number>;

  constructor(dispatches: Readonly<Record<string, number>>) {
    this.dispatches = new Map(Object.entries(dispatches));
  }

  async marks(..._: Parameters<SessionEraser['marks']>): Promise<Marks> {
    return { dispatches: 0, sequence: 0 };
  }

  async count(session: Token): Promise<ErasedCounts> {
    const none = recordOf(ERASED_KINDS, () => 0);
    return { ...none, dispatches: this.dispatches.get(session) ?? 0 };
  }

  async erase(...[session]: Parameters<SessionEraser['erase']>): Promise<ErasedCounts> {
    const erased = await this.count(session);
    this.dispatches.delete(session);
    return erased;
  }

  async rewrite(): Promise<void> {}

  async eraseLearnings(): Promise<void> {}
}

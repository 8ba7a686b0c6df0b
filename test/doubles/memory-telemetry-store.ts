import { added, NO_TELEMETRY, type SessionTelemetry } from '../../src/contracts/compile-request.js';
import type { Token } from '../../src/contracts/names.js';
import type { TelemetryStore } from '../../src/engine/ports/telemetry-store.js';

export class MemoryTelemetryStore implements TelemetryStore {
  readonly #kept = new Map<Token, SessionTelemetry>();

  async load(session: Token): Promise<SessionTelemetry | undefined> {
    return this.#kept.get(session);
  }

  async add(session: Token, counts: SessionTelemetry): Promise<void> {
    this.#kept.set(session, added(this.#kept.get(session) ?? NO_TELEMETRY, counts));
  }
}

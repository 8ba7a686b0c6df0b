import {
  noTelemetry,
  type StoredTelemetry,
  type TelemetryBatch,
  withBatch,
} from '../../src/contracts/compile-request.js';
import type { Token } from '../../src/contracts/names.js';
import type { TelemetryStore } from '../../src/engine/ports/telemetry-store.js';

export class MemoryTelemetryStore implements TelemetryStore {
  readonly #kept = new Map<Token, StoredTelemetry>();

  async load(session: Token): Promise<StoredTelemetry | undefined> {
    return this.#kept.get(session);
  }

  async add(session: Token, writer: string, batch: TelemetryBatch): Promise<void> {
    this.#kept.set(session, withBatch(this.#kept.get(session) ?? noTelemetry(), writer, batch));
  }
}

import type { Token } from '../../src/contracts/names.js';
import type { KeptPrompt } from '../../src/contracts/replies/prompt-trace.js';
import { type PromptRing, RING_SIZE } from '../../src/engine/ports/telemetry-store.js';

export class MemoryPromptRing implements PromptRing {
  readonly #kept = new Map<string, KeptPrompt[]>();

  async all(session: Token): Promise<readonly KeptPrompt[]> {
    return this.#kept.get(session) ?? [];
  }

  async keep(prompt: KeptPrompt): Promise<void> {
    const before = this.#kept.get(prompt.session) ?? [];
    this.#kept.set(prompt.session, [structuredClone(prompt), ...before].slice(0, RING_SIZE));
  }
}

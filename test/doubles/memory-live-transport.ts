import { ThroughlineError } from '../../src/contracts/errors.js';
import type { LiveTransport } from '../../src/engine/ports/clients.js';

/** A transport without a server: a test sends messages and reports a lost connection. */
export class MemoryLiveTransport implements LiveTransport {
  readonly server = 'memory';
  readonly #heard = new Set<(subject: string, data: Uint8Array) => void>();
  readonly #stateHeard = new Set<(connected: boolean) => void>();
  #connected = true;

  isConnected(): boolean {
    return this.#connected;
  }

  onState(listener: (connected: boolean) => void): () => void {
    this.#stateHeard.add(listener);
    return () => this.#stateHeard.delete(listener);
  }

  async request(subject: string): Promise<never> {
    throw new ThroughlineError('unavailable', `${subject}: nobody answers`);
  }

  listen(subjects: string, onMessage: (subject: string, data: Uint8Array) => void): () => void {
    const [first = ''] = subjects.split('.');
    const listener = (subject: string, data: Uint8Array) => {
      if (subject.startsWith(`${first}.`)) onMessage(subject, data);
    };
    this.#heard.add(listener);
    return () => this.#heard.delete(listener);
  }

  async close(): Promise<void> {
    this.#heard.clear();
  }

  send(subject: string, data: Uint8Array = new Uint8Array()): void {
    for (const listener of [...this.#heard]) listener(subject, data);
  }

  setConnected(connected: boolean): void {
    this.#connected = connected;
    for (const listener of [...this.#stateHeard]) listener(connected);
  }

  get listening(): number {
    return this.#heard.size;
  }
}

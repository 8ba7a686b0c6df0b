import { randomBytes } from 'node:crypto';
import { codeOf } from '../../contracts/errors.js';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import type { PromptRing } from '../../ports/prompt-traces.js';
import type { SecretScanner } from '../../redaction/secret-scanner.js';
import { type CompiledNow, keptOf } from './kept-prompt.js';

/**
 * Keeps what was compiled in the ring of its session, off the request path: a request only puts it into a queue. So many
 * are written every tenth of a second; where more come than are written, the oldest that wait are dropped and counted.
 */
export interface PromptKeeperOptions {
  readonly ring: Pick<PromptRing, 'keep'>;
  /** Finds secrets in requests: they are kept nowhere. */
  readonly secrets: SecretScanner;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds between two rounds. Default: 100. */
  readonly everyMs?: number;
  /** Prompts that may wait; each holds its text until then. Default: 500. */
  readonly maxWaiting?: number;
}

const EVERY_MS = 100;
const MAX_WAITING = 500;
/** Prompts of one round: 250 a second take about a hundredth of one core. */
const ROUND = 25;

export class PromptKeeper {
  readonly #options: PromptKeeperOptions;
  #waiting: CompiledNow[] = [];
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #writes = true;
  #kept = 0;
  #dropped = 0;

  constructor(options: PromptKeeperOptions) {
    this.#options = options;
  }

  /** Prompts kept and dropped since the start. */
  get counts(): { readonly kept: number; readonly dropped: number; readonly waiting: number } {
    return { kept: this.#kept, dropped: this.#dropped, waiting: this.#waiting.length };
  }

  add(compiled: Omit<CompiledNow, 'id' | 'at'>): void {
    // Anyone may name a session that does not exist: nothing is stored for it.
    if (compiled.reply.sequence === 0) return;
    const { clock, maxWaiting = MAX_WAITING, everyMs = EVERY_MS } = this.#options;
    this.#waiting.push({ id: randomBytes(6).toString('hex'), at: clock(), ...compiled });
    if (this.#waiting.length > maxWaiting) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    this.#timer ??= setTimeout(() => this.#next(), everyMs).unref();
  }

  /** Writes all that waits. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#round;
    while (this.#waiting.length > 0 && this.#writes) await this.#write();
    clearTimeout(this.#timer);
  }

  #next(): void {
    const { everyMs = EVERY_MS } = this.#options;
    this.#round = this.#write().then(() => {
      this.#timer = this.#waiting.length > 0 ? setTimeout(() => this.#next(), everyMs).unref() : undefined;
    });
  }

  /** One round. What cannot be stored is dropped: by the time it could be, newer ones matter more. */
  async #write(): Promise<void> {
    const { ring, secrets, logger } = this.#options;
    const some = this.#waiting.splice(0, ROUND);
    const written = await Promise.allSettled(some.map(async (each) => ring.keep(keptOf(each, secrets))));
    const failed = written.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    this.#kept += some.length - failed.length;
    this.#dropped += failed.length;
    const [error] = failed;
    // Once for all rounds that fail one after another.
    if (error !== undefined && this.#writes)
      logger.warn({ code: codeOf(error), err: error }, 'compiled prompts are not kept');
    this.#writes = error === undefined;
  }
}

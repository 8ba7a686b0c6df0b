import { codeOf, TextsRefusedError } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import { embedEach } from '../../engine/embedding/vectorizer.js';
import type { SessionReader } from '../../engine/folding/session-folding.js';
import type { Clock, Logger } from '../../engine/ports/clients.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { SessionLog } from '../../engine/ports/session-log.js';
import type { Embedder } from '../../engine/ports/vector-store.js';
import { batched, limitedWarnings } from '../../engine/runtime/batched.js';
import { embeddedText, quantized, toStored, withoutVector } from '../../memory/facts/fact-vectors.js';
import { redactText, type SecretScanner } from '../../memory/redaction/redactor.js';
import { factsOf } from '../../memory/session/session-state.js';
import { generationGuard } from '../common/open-sessions.js';
import { appendTo } from '../tools/trace-service.js';

interface FactVectoriserOptions {
  readonly reader: Pick<SessionReader, 'load'>;
  readonly log: Pick<SessionLog, 'append'>;
  readonly lifecycle: SessionLifecycle;
  readonly embedder: Embedder;
  /** Redacts what is sent to the embedder. */
  readonly secrets: SecretScanner;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Texts that are embedded and stored together. */
  readonly batch: number;
}

/**
 * Computes the vectors of facts behind the extractor: one session after the other, with an event per batch. Nothing waits
 * for it. A session that fails is tried again with its next result, and two processes may do the same work.
 */
export class FactVectoriser {
  readonly #options: FactVectoriserOptions;
  readonly #stopping = new AbortController();
  readonly #next = batched((sessions: readonly Token[]) => this.#bringAll(new Set(sessions)));
  #running: Promise<void> = Promise.resolve();
  readonly #warn: ReturnType<typeof limitedWarnings>;
  /** Ids of facts whose text the embedder refuses. */
  readonly #refused = new Set<string>();

  constructor(options: FactVectoriserOptions) {
    this.#options = options;
    this.#warn = limitedWarnings(options.logger, () => performance.now());
  }

  /** Schedules the vectors of a session. */
  recorded(session: Token): void {
    this.#running = this.#next(session);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Must not reject: nothing awaits it. */
  async #bringAll(sessions: ReadonlySet<Token>): Promise<void> {
    for (const session of sessions) {
      if (this.#stopping.signal.aborted) return;
      try {
        await this.#bring(session);
      } catch (error) {
        if (!this.#stopping.signal.aborted)
          this.#warn({ session, code: codeOf(error), err: error }, 'vectors of facts not computed');
      }
    }
  }

  async #bring(session: Token): Promise<void> {
    const { reader, embedder, secrets, lifecycle, clock, batch } = this.#options;
    const { signal } = this.#stopping;
    const assertSameGeneration = await generationGuard(lifecycle, session);
    const { state } = (await reader.load(session)).folded;
    const { model } = embedder;
    const missing = withoutVector(factsOf(state).index(), state.vectors, model).filter(
      ({ fact }) => !this.#refused.has(fact.id),
    );
    for (let from = 0; from < missing.length; from += batch) {
      const some = missing.slice(from, from + batch);
      const texts = some.map((each) => redactText(embeddedText(each), secrets).value);
      const found = await embedEach(embedder, texts, signal);
      const vectors = some.flatMap(({ fact: { id } }, at) => {
        const vector = found[at];
        if (vector instanceof TextsRefusedError) this.#refused.add(id);
        if (!(vector instanceof Float32Array)) return [];
        const { scale, values } = toStored(quantized(model, vector));
        return [{ fact: id, scale, values }];
      });
      if (vectors.length === 0) continue;
      await assertSameGeneration();
      const data = { model, vectors };
      await appendTo(this.#options, session, { v: EVENT_VERSION, type: 'fact.vectors', at: clock(), data });
    }
  }
}

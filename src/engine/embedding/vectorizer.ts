import { setImmediate as turn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { codeOf, TextsRefusedError, ThroughlineError } from '../../contracts/errors.js';
import { isToken, type Token } from '../../contracts/names.js';
import type { Learning } from '../../memory/learnings/learnings-state.js';
import { backoffMs } from '../../shared/backoff.js';
import type { Logger } from '../ports/clients.js';
import type { Embedder, VectorStore } from '../ports/vector-store.js';
import { pause } from '../runtime/batched.js';

/**
 * Computes the missing vectors of a project's learnings in the background.
 *
 * A vector is current if its model, text and dimension are. Model and text are read from the store. The dimension shows only
 * in the embedder's answers: if a model was replaced under its name, the next learning reveals it, or a caller reports it with
 * `exchanged`, and all vectors are computed again. A refused text is logged, and tried again with the next run.
 *
 * Each project has at most one run; learnings that arrive meanwhile are handled next. A failed run is retried with
 * exponential backoff. Two processes may compute the same vector, which is only wasted work.
 */
export interface VectoriserOptions {
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
  readonly logger: Logger;
  /** Texts that are embedded and then stored together. Default: 64. */
  readonly batch?: number;
  /** Pause after the first failure, in milliseconds; doubled after each further one. Default: 1000. */
  readonly pauseMs?: number;
  readonly maxPauseMs?: number;
  /** A number from 0 to 1, for the jitter. Default: `Math.random`. */
  readonly random?: () => number;
}

type Learnings = ReadonlyMap<string, Learning>;

/** The text behind a stored vector of the embedder's model. */
interface Known {
  readonly text: string;
  readonly dimension: number;
}

type Missing = readonly [id: Token, text: string];

interface Project {
  /** Learnings to look at next. */
  wanted: Learnings | undefined;
  running: Promise<void> | undefined;
  readonly known: Map<string, Known>;
  through: number;
  /** The store's epoch when it was read. */
  epoch: string | undefined;
}

/** Projects whose vectors are tracked. */
const MAX_PROJECTS = 100;

export class Vectoriser {
  readonly #options: Required<VectoriserOptions>;
  readonly #projects: LRUCache<Token, Project>;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  /** Dimension of the vectors that the embedder returns now. */
  #dimension: number | undefined;

  constructor(options: VectoriserOptions) {
    const { batch = 64, pauseMs = 1000, maxPauseMs = 60_000, random = Math.random } = options;
    this.#options = { ...options, batch, pauseMs, maxPauseMs, random };
    this.#projects = new LRUCache({ max: MAX_PROJECTS });
  }

  /** Schedules the vectors that these active learnings need. Returns at once. */
  sync(project: Token, learnings: Learnings): void {
    if (this.#stopping.signal.aborted) return;
    const slot = this.#slot(project);
    slot.wanted = learnings;
    if (slot.running !== undefined) return;
    const running = this.#run(project, slot).finally(() => this.#running.delete(running));
    slot.running = running;
    this.#running.add(running);
  }

  /** Records the embedder's new dimension: the next run of each project computes its vectors again. */
  exchanged(dimension: number): void {
    this.#dimension = dimension;
  }

  /** Resolves when no run is active for the project. */
  async idle(project: Token): Promise<void> {
    await this.#projects.get(project)?.running;
  }

  /** Aborts the current runs; stored vectors stay. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  #slot(project: Token): Project {
    const slot = this.#projects.get(project) ?? {
      wanted: undefined,
      running: undefined,
      known: new Map(),
      through: 0,
      epoch: undefined,
    };
    this.#projects.set(project, slot);
    return slot;
  }

  /** Must not reject: nothing awaits it. */
  async #run(project: Token, slot: Project): Promise<void> {
    const { signal } = this.#stopping;
    await turn();
    let learnings: Learnings = new Map();
    for (let failures = 0; slot.wanted !== undefined || failures > 0; ) {
      if (signal.aborted) break;
      learnings = slot.wanted ?? learnings;
      slot.wanted = undefined;
      try {
        await this.#bring(project, slot, learnings);
        failures = 0;
      } catch (error) {
        if (signal.aborted) break;
        await this.#pause(project, failures, error);
        failures += 1;
      }
    }
    slot.running = undefined;
  }

  async #pause(project: Token, failures: number, error: unknown): Promise<void> {
    const { logger, pauseMs, maxPauseMs, random } = this.#options;
    const retryInMs = backoffMs({ firstMs: pauseMs, longestMs: maxPauseMs }, failures + 1, random());
    logger.warn({ project, code: codeOf(error), err: error, retryInMs }, 'vectors of learnings not computed');
    await pause(retryInMs, this.#stopping.signal);
  }

  async #bring(project: Token, slot: Project, learnings: Learnings): Promise<void> {
    const { embedder, logger, batch } = this.#options;
    await this.#read(project, slot);
    const started = this.#dimension;
    let computed = 0;
    const refused = new Set<Token>();
    for (;;) {
      // Recomputed each time: a batch with another dimension makes all earlier vectors stale.
      const missing = this.#missing(slot, learnings)
        .filter(([id]) => !refused.has(id))
        .slice(0, batch);
      if (missing.length === 0) break;
      const texts = missing.map(([, text]) => text);
      const given = await embedEach(embedder, texts, this.#stopping.signal);
      const dimension = given.find((vector) => vector instanceof Float32Array)?.length ?? this.#dimension;
      if (dimension !== this.#dimension && this.#dimension !== started) {
        throw new ThroughlineError(
          'unavailable',
          `${embedder.model} keeps changing the length of its vectors`,
        );
      }
      this.#dimension = dimension;
      computed += await this.#store(project, slot, missing, given, refused);
    }
    if (computed > 0)
      logger.info({ project, computed, model: embedder.model }, 'vectors of learnings computed');
  }

  #missing(slot: Project, learnings: Learnings): Missing[] {
    const missing: Missing[] = [];
    for (const learning of learnings.values()) {
      const known = slot.known.get(learning.id);
      if (known?.text === learning.content && known.dimension === (this.#dimension ?? known.dimension))
        continue;
      if (embeddable(learning)) missing.push([learning.id, learning.content]);
    }
    return missing;
  }

  async #read(project: Token, slot: Project): Promise<void> {
    const { vectors, embedder } = this.#options;
    const epoch = await vectors.epoch();
    if (epoch !== slot.epoch) {
      slot.known.clear();
      slot.through = 0;
      slot.epoch = epoch;
    }
    const read = await vectors.read(project, slot.through);
    for (const { learning, model, text, vector } of read.vectors) {
      if (model === embedder.model) slot.known.set(learning, { text, dimension: vector.length });
      else slot.known.delete(learning);
    }
    slot.through = read.through;
  }

  /** Stores the vectors and adds the refused learnings to `refused`. Returns the number stored. */
  async #store(
    project: Token,
    slot: Project,
    texts: readonly Missing[],
    given: readonly (Float32Array | TextsRefusedError)[],
    refused: Set<Token>,
  ): Promise<number> {
    const { vectors, embedder, logger } = this.#options;
    const { model } = embedder;
    const writes = texts.map(async ([learning, text], index) => {
      const vector = given[index];
      if (vector === undefined)
        throw new ThroughlineError('unavailable', `${model} returned too few vectors`);
      if (vector instanceof TextsRefusedError) {
        refused.add(learning);
        const fields = { project, learning, code: vector.code, err: vector };
        logger.warn(fields, 'a learning has no vector: the embedder refuses its text');
        return 0;
      }
      await vectors.put(project, learning, { model, text, vector });
      slot.known.set(learning, { text, dimension: vector.length });
      return 1;
    });
    return (await Promise.all(writes)).reduce((sum: number, kept) => sum + kept, 0);
  }
}

/** Returns true if the id can be a key and there is text to embed. */
function embeddable(learning: Learning): learning is Learning & { readonly id: Token } {
  return isToken(learning.id) && learning.content.trim() !== '';
}

/**
 * Embeds texts; if the embedder refuses them together, each alone, so that one bad text does not keep the others from their
 * vectors. Returns for each text its vector, or the error that refused it.
 */
export async function embedEach(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<(Float32Array | TextsRefusedError)[]> {
  try {
    return await embedder.embed(texts, signal);
  } catch (error) {
    if (!(error instanceof TextsRefusedError)) throw error;
    if (texts.length === 1) return [error];
  }
  const each: (Float32Array | TextsRefusedError)[] = [];
  for (const text of texts) each.push(...(await embedEach(embedder, [text], signal)));
  return each;
}

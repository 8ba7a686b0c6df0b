import { setImmediate as turn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { codeOf, TextsRefusedError, ThroughlineError } from '../../contracts/errors.js';
import { isToken, type Token } from '../../contracts/names.js';
import type { Learning } from '../../memory/learnings/learnings-state.js';
import { backoffMs } from '../../shared/backoff.js';
import type { Logger } from '../ports/logger.js';
import type { Embedder, VectorStore } from '../ports/vector-store.js';
import { pause } from '../runtime/pauses.js';
import { TolerantEmbedder } from './tolerant-embedder.js';

/**
 * Computes the vectors that a project's learnings lack, off every request's path.
 *
 * A vector is in step while its model, its text and its dimension are those of today. Text and model are seen in the
 * store; the dimension only in what the embedder gives, so the first run asks for one vector even where none is
 * missing: a model replaced under its name is noticed, and all vectors are computed again. While everything runs, the
 * next learning shows it, or the first caller to notice says so with `exchanged`.
 *
 * A text that the embedder refuses keeps no other from its vector: it is found by halving the batch, named in the log,
 * and left to the words, where these decide, until it reads differently or the model is exchanged. An embedder that
 * refuses what it took before may refuse everything, which is a failure and no text's fault: another text that it takes
 * is looked for.
 *
 * For each project at most one run is under way; learnings that come meanwhile are looked at when it is done. A run
 * that fails is tried again after pauses that double, until it succeeds or all is stopped. Two processes may compute
 * the same vector: one of them was in vain, no more.
 */
export interface VectoriserOptions {
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
  readonly logger: Logger;
  /** Texts that are embedded, and then stored, at a time. Default: 64. */
  readonly batch?: number;
  /** Pause after a first failure, in milliseconds; it doubles with each further one. Default: 1000. */
  readonly pauseMs?: number;
  /** Longest pause. Default: 60,000. */
  readonly maxPauseMs?: number;
  /** Projects whose vectors are remembered. Default: 100. */
  readonly maxProjects?: number;
  /** A number from 0 to 1, for the jitter. Default: `Math.random`. */
  readonly random?: () => number;
}

type Learnings = ReadonlyMap<string, Learning>;

/** The text behind a stored vector of the embedder's model, or a text that the embedder refused. */
interface Known {
  readonly text: string;
  /** Of the embedder's vectors then. */
  readonly dimension: number | undefined;
}

type Missing = readonly [id: Token, text: string];

interface Project {
  /** Learnings to look at next. */
  wanted: Learnings | undefined;
  running: Promise<void> | undefined;
  readonly known: Map<string, Known>;
  through: number;
  /** Of the store that it was read from. */
  epoch: string | undefined;
}

export class Vectoriser {
  readonly #options: Required<VectoriserOptions>;
  readonly #tolerant: TolerantEmbedder;
  readonly #projects: LRUCache<Token, Project>;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  /** Of the vectors that the embedder gives now. */
  #dimension: number | undefined;

  constructor(options: VectoriserOptions) {
    const {
      batch = 64,
      pauseMs = 1000,
      maxPauseMs = 60_000,
      maxProjects = 100,
      random = Math.random,
    } = options;
    this.#options = { ...options, batch, pauseMs, maxPauseMs, maxProjects, random };
    this.#tolerant = new TolerantEmbedder(options.embedder);
    this.#projects = new LRUCache({ max: maxProjects });
  }

  /** Schedules the vectors that these learnings, all active ones, need. Costs the caller nothing. */
  sync(project: Token, learnings: Learnings): void {
    if (this.#stopping.signal.aborted) return;
    const slot = this.#slot(project);
    slot.wanted = learnings;
    if (slot.running !== undefined) return;
    const running = this.#run(project, slot).finally(() => this.#running.delete(running));
    slot.running = running;
    this.#running.add(running);
  }

  /** Takes note of the dimension that the embedder gives now: with its next run, a project's vectors are computed in it. */
  exchanged(dimension: number): void {
    this.#dimension = dimension;
  }

  /** Resolves when nothing is under way for the project: all is in step, or it was stopped. */
  async idle(project: Token): Promise<void> {
    await this.#projects.get(project)?.running;
  }

  /** Ends the current run; stored vectors stay. */
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

  /** Must not reject: nothing waits for it. */
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
    await this.#probe(learnings);
    const started = this.#dimension;
    let computed = 0;
    for (;;) {
      // Looked for again each time: a batch that comes in another dimension puts all others out of step.
      const missing = this.#missing(slot, learnings).slice(0, batch);
      if (missing.length === 0) break;
      const texts = missing.map(([, text]) => text);
      const given = await this.#tolerant.embed(texts, this.#stopping.signal);
      const dimension = given.find((vector) => vector instanceof Float32Array)?.length ?? this.#dimension;
      if (dimension !== this.#dimension && this.#dimension !== started) {
        throw new ThroughlineError(
          'unavailable',
          `${embedder.model} keeps changing the length of its vectors`,
        );
      }
      this.#dimension = dimension;
      computed += await this.#store(project, slot, missing, given);
    }
    if (computed > 0)
      logger.info({ project, computed, model: embedder.model }, 'vectors of learnings computed');
  }

  /** Learns the dimension from a single text, where no accepted text is known. */
  async #probe(learnings: Learnings): Promise<void> {
    const texts = [...learnings.values()].filter(embeddable).map(({ content }) => content);
    const vector = await this.#tolerant.probe(texts, this.#stopping.signal);
    if (vector !== undefined) this.#dimension = vector.length;
  }

  #missing(slot: Project, learnings: Learnings): Missing[] {
    const missing: Missing[] = [];
    for (const learning of learnings.values()) {
      const known = slot.known.get(learning.id);
      if (known?.text === learning.content && known.dimension === this.#dimension) continue;
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

  /** Keeps the given vectors, and notes refused texts. Returns how many were kept. */
  async #store(
    project: Token,
    slot: Project,
    texts: readonly Missing[],
    given: readonly (Float32Array | TextsRefusedError)[],
  ): Promise<number> {
    const { vectors, embedder, logger } = this.#options;
    const { model } = embedder;
    const writes = texts.map(async ([learning, text], index) => {
      const vector = given[index];
      if (vector === undefined) throw new ThroughlineError('unavailable', `${model} gave too few vectors`);
      if (vector instanceof TextsRefusedError) {
        slot.known.set(learning, { text, dimension: this.#dimension });
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

/** Its id can name a key, and there is something to embed. */
function embeddable(learning: Learning): learning is Learning & { readonly id: Token } {
  return isToken(learning.id) && learning.content.trim() !== '';
}

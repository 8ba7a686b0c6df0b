import type { JetStreamManager, NatsConnection } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import { compiledSubject, PROMPTS_STREAM, type Token } from '../../contracts/names.js';
import { type KeptPrompt, keptPrompt } from '../../contracts/replies/prompt-trace.js';
import { type PromptRing, pageOf, type RecentPrompt, RING_SIZE } from '../../engine/ports/telemetry-store.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { type AckedPublisher, publishCreating } from '../jetstream/acked-publisher.js';
import { readStream } from '../jetstream/direct-get.js';
import { ensurePromptsStream, type TopologyOptions } from '../jetstream/topology.js';

interface PromptRingOptions extends TopologyOptions {
  readonly timeoutMs: number;
  /** Prompts up to this sequence are not stored: see `forgotten-floor.ts`. Default: none. */
  readonly floor?: (session: Token) => number;
  /** See `SessionLifecycle.refreshed`. */
  readonly refreshed?: () => Promise<void> | undefined;
}

/** Compiled prompts in the stream `PROMPTS`, a subject per session, of which the server keeps the newest. */
export class NatsPromptRing implements PromptRing {
  readonly #connection: NatsConnection;
  readonly #jsm: JetStreamManager;
  readonly #publisher: AckedPublisher;
  readonly #options: PromptRingOptions;

  constructor(
    connection: NatsConnection,
    jsm: JetStreamManager,
    publisher: AckedPublisher,
    options: PromptRingOptions,
  ) {
    this.#connection = connection;
    this.#jsm = jsm;
    this.#publisher = publisher;
    this.#options = options;
  }

  async recent(
    session: Token,
    range: { readonly before?: string; readonly limit: number },
  ): Promise<readonly RecentPrompt[]> {
    return pageOf(await this.all(session), range);
  }

  async all(session: Token): Promise<readonly KeptPrompt[]> {
    const { timeoutMs } = this.#options;
    const range = { from: 1, limit: RING_SIZE };
    const subject = compiledSubject(session);
    const messages = await readStream(this.#connection, PROMPTS_STREAM, subject, range, timeoutMs).catch(
      (error: unknown) => {
        throw toThroughlineError(error, `reading the prompts of ${session}`);
      },
    );
    const kept = messages.flatMap(({ data, foreign }) =>
      foreign === undefined ? (keptPrompt.safeParse(jsonOf(data)).data ?? []) : [],
    );
    // A rewrite of the stream may reorder or duplicate prompts.
    const once = [...new Map(kept.map((prompt) => [prompt.id, prompt])).values()];
    return once.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0)).reverse();
  }

  async keep(prompt: KeptPrompt): Promise<void> {
    const { floor = () => 0, refreshed } = this.#options;
    await refreshed?.();
    if (prompt.sequence <= floor(prompt.session as Token)) return;
    const published = await publishCreating(this.#publisher, {
      subject: compiledSubject(prompt.session as Token),
      body: JSON.stringify(prompt),
      options: { stream: PROMPTS_STREAM },
      make: () => ensurePromptsStream(this.#jsm, this.#options),
    });
    if (published.outcome === 'stored') return;
    throw new ThroughlineError('unavailable', `stream ${PROMPTS_STREAM} has no subject for compiled prompts`);
  }
}

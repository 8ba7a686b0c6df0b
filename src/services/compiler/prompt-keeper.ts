import { randomBytes } from 'node:crypto';
import type { CompileRequest } from '../../contracts/compile-request.js';
import { codeOf } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { KeptPrompt } from '../../contracts/prompt-requests.js';
import type { CompileReply } from '../../contracts/replies/compile-reply.js';
import type { Clock, Logger } from '../../engine/ports/logger-and-clock.js';
import { redactJson, type SecretScanner } from '../../memory/redaction/redactor.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { Chosen } from '../../prompt/prompt-kind.js';
import { defined } from '../../shared/collections.js';
import { hashOf } from '../../shared/hash.js';
import { clipText } from '../../shared/text.js';

/** Stores compiled prompts in their session's ring in batches, off the request path; drops and counts the oldest. */
interface PromptKeeperOptions {
  readonly ring: Pick<NatsPorts['prompts'], 'keep'>;
  readonly secrets: SecretScanner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs?: number;
  /** Queue length; each entry holds the prompt's text. Default: 500. */
  readonly maxWaiting?: number;
}

const EVERY_MS = 100;
const MAX_WAITING = 500;
/** Prompts per round: 250 per second take about 1 % of a core. */
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

  get counts(): { readonly kept: number; readonly dropped: number; readonly waiting: number } {
    return { kept: this.#kept, dropped: this.#dropped, waiting: this.#waiting.length };
  }

  add(compiled: Omit<CompiledNow, 'id' | 'at'>): void {
    // Nothing is stored for a session that does not exist, since anyone may name one.
    if (compiled.reply.sequence === 0) return;
    const { clock, maxWaiting = MAX_WAITING, everyMs = EVERY_MS } = this.#options;
    this.#waiting.push({ id: randomBytes(6).toString('hex'), at: clock(), ...compiled });
    if (this.#waiting.length > maxWaiting) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    this.#timer ??= setTimeout(() => {
      this.#round = this.#write().then(() => {
        if (this.#waiting.length > 0) this.#timer?.refresh();
        else this.#timer = undefined;
      });
    }, everyMs).unref();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#round;
    while (this.#waiting.length > 0 && this.#writes) await this.#write();
    clearTimeout(this.#timer);
  }

  /** Writes one batch. What cannot be stored is dropped: newer prompts matter more than retries. */
  async #write(): Promise<void> {
    const { ring, secrets, logger } = this.#options;
    const some = this.#waiting.splice(0, ROUND);
    const written = await Promise.allSettled(some.map(async (prompt) => ring.keep(keptOf(prompt, secrets))));
    const failed = written.flatMap((write) => (write.status === 'rejected' ? [write.reason as unknown] : []));
    this.#kept += some.length - failed.length;
    this.#dropped += failed.length;
    const [error] = failed;
    // Warn once per outage.
    if (error !== undefined && this.#writes)
      logger.warn({ code: codeOf(error), err: error }, 'compiled prompts are not kept');
    this.#writes = error === undefined;
  }
}

interface CompiledNow {
  readonly id: string;
  readonly at: string;
  readonly session: Token;
  readonly request: CompileRequest;
  readonly reply: CompileReply;
  readonly chosen: Chosen;
  readonly durationMs: number;
}

/** Maximum bytes of a stored request; the texts of a larger one are cut to so many characters each. */
const MAX_REQUEST = 32_768;
const CUTS = [6000, 1500, 300, 60];
const MAX_FACTS = 100;

/** Converts a prompt for storage. Secrets are redacted before cutting, because half a secret is not recognised. */
export function keptOf(compiled: CompiledNow, scanner: SecretScanner): KeptPrompt {
  const { id, at, session, request: original, reply, chosen, durationMs } = compiled;
  const { shown, left } = chosen;
  const { request, isWhole } = bounded(pastRequest(compiled), scanner);
  return {
    id,
    at,
    session,
    kind: reply.kind,
    ...defined({
      task: original.kind === 'session-start' ? undefined : original.taskId,
      role: original.kind === 'dispatch' ? original.role : undefined,
    }),
    sequence: reply.sequence,
    tokens: reply.tokenEstimate,
    hash: reply.kind === 'dispatch' ? reply.fullPromptHash : hashOf(reply.prompt),
    ...(reply.kind === 'dispatch' && { prefixHash: reply.stablePrefixHash }),
    room: reply.budget.room,
    wanted: reply.budget.wanted,
    dropped: reply.budget.dropped,
    // Its message may quote a plan.
    ...(reply.kind === 'dispatch' && {
      ledger: defined({ mode: reply.ledger.mode, reason: reply.ledger.reason }),
    }),
    durationMs: Math.round(durationMs * 100) / 100,
    factsShown: reply.factsShown,
    factsTotal: reply.factsTotal,
    facts: shown.slice(0, MAX_FACTS).map(scored),
    left: left.map((candidate) => ({ ...scored(candidate), why: candidate.left ?? ('budget' as const) })),
    learnings: chosen.learnings,
    ...defined({ vectors: reply.vectors, learningsSequence: reply.learningsSequence }),
    ...(!isWhole && { cut: true as const }),
    request,
  };
}

/** Returns the request that compiles the same prompt later: as of the sequences that this one reflects. */
function pastRequest({ request, reply }: CompiledNow): Record<string, unknown> {
  const { after: _, afterTimeoutMs: _waits, explain: _explains, include: _includes, ...fields } = request;
  const { learningsSequence } = reply;
  const wentWithout = 'learningsError' in reply && reply.learningsError !== undefined;
  return {
    ...fields,
    asOf: reply.sequence,
    ...defined({ learningsAsOf: learningsSequence }),
    // Compiled without learnings, which may be available next time.
    ...(wentWithout && { maxLearnings: 0 }),
  };
}

function bounded(
  whole: Readonly<Record<string, unknown>>,
  scanner: SecretScanner,
): { request: Record<string, unknown>; isWhole: boolean } {
  const { value, found } = redactJson(structuredClone(whole), scanner);
  let request = value as Record<string, unknown>;
  let isWhole = Object.keys(found).length === 0;
  for (const most of CUTS) {
    if (Buffer.byteLength(JSON.stringify(request)) <= MAX_REQUEST) break;
    request = cutTexts(request, most) as Record<string, unknown>;
    isWhole = false;
  }
  return { request, isWhole };
}

function cutTexts(value: unknown, most: number): unknown {
  if (typeof value === 'string') return clipText(value, most);
  if (Array.isArray(value)) return value.map((element) => cutTexts(element, most));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, cutTexts(field, most)]));
}

function scored({ fact, score }: Chosen['shown'][number]) {
  return { id: fact.id, score: Math.round(score * 1000) / 1000 };
}

import { setMaxListeners } from 'node:events';
import type { CompileReplyTo, CompileRequestInput } from '../contracts/compile-request.js';
import { ThroughlineError } from '../contracts/errors.js';
import type { Role } from '../contracts/kinds.js';
import { COMPILE_SUBJECT, PAST_PROMPT_SUBJECT, scopedRequest } from '../contracts/names.js';
import type { DispatchResult } from '../contracts/replies/dispatch-result.js';
import type { LearningReply } from '../contracts/replies/learning-reply.js';
import type { ReplySubject, ReplyTo, ToolReply } from '../contracts/replies/replies.js';
import type { RunInitReply, RunStatusReply } from '../contracts/replies/run-reply.js';
import type {
  TraceAppended,
  TraceCompacted,
  TraceFound,
  TracePinned,
} from '../contracts/replies/trace-reply.js';
import {
  type LearningRequest,
  RUN_INIT_SUBJECT,
  RUN_STATUS_SUBJECT,
  type ToolName,
  TRACE_APPEND_SUBJECT,
  TRACE_COMPACT_SUBJECT,
  TRACE_GET_SUBJECT,
  TRACE_PIN_SUBJECT,
  TRACE_RECORD_SUBJECT,
} from '../contracts/request-names.js';
import type { ResultOf } from '../contracts/results.js';
import type { RunInitInput } from '../contracts/run-request.js';
import type { TraceEntryInput } from '../contracts/trace-entry.js';
import { hookSpan } from '../engine/monitoring/message-spans.js';
import type { ClientTransport } from '../engine/ports/clients.js';
import { HookEngine, PreCompactHook } from '../memory/traces/hook-engine.js';
import { createLearnings, type Learnings, type Proposals } from './learning-methods.js';
import {
  type Published,
  type PublishedBy,
  type PublishOptions,
  publishPersistently,
} from './persistent-publish.js';
import { createTools, type Tools } from './tool-methods.js';

/** How a client waits for answers, and what it checks. */
export interface ClientOptions {
  /** Longest wait for an answer, in milliseconds. Also limits the wait for a prompt with `after`. Default 10 000. */
  readonly timeoutMs?: number;
  /**
   * Whether replies are checked against their schemas: one that cannot be read is the error `reply_invalid`. Default
   * true. Without it no schema is loaded, which short-lived processes may prefer.
   */
  readonly checkReplies?: boolean;
}

/** Share of the wait for an answer that a service may wait for the dispatch named in `after`. */
const AFTER_SHARE = 0.8;

/**
 * What a TypeScript runtime uses: publish what agents returned, ask for the next prompt.
 *
 * Every method rejects with a `ThroughlineError`, whose `code` is stable.
 */
export class ThroughlineClient {
  readonly #transport: ClientTransport;
  readonly #timeoutMs: number;
  readonly #checkReplies: boolean;
  readonly #closing = new AbortController();
  /** Tasks, notes, inbox, iterations and the session itself: one method a tool. */
  readonly tools: Tools;
  /** What a project has learned, and what is proposed: one method a request. */
  readonly learnings: Learnings;
  readonly proposals: Proposals;

  constructor(transport: ClientTransport, options: ClientOptions = {}) {
    this.#transport = transport;
    // One listener for each result that waits.
    setMaxListeners(0, this.#closing.signal);
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#checkReplies = options.checkReplies ?? true;
    this.tools = createTools((name, input) => this.requestTool(name, input));
    const { learnings, proposals } = createLearnings((subject, input) =>
      this.requestLearning(subject, input),
    );
    this.learnings = learnings;
    this.proposals = proposals;
  }

  /**
   * Publishes an implementer's result as `publishText` does. It must have the exact fields: throws `schema_invalid`
   * before anything is sent. What an agent returned, unchecked, belongs to `publishText`, where it is repaired.
   */
  async publishImplementer<Options extends PublishOptions>(
    session: string,
    result: ResultOf<'implementer'>,
    options?: Options,
  ): Promise<PublishedBy<Options>> {
    return this.publishResult(session, 'implementer', result, options);
  }

  /** Publishes a reviewer's result, as exact as `publishImplementer` wants one. */
  async publishReviewer<Options extends PublishOptions>(
    session: string,
    result: ResultOf<'reviewer'>,
    options?: Options,
  ): Promise<PublishedBy<Options>> {
    return this.publishResult(session, 'reviewer', result, options);
  }

  /** Publishes a result of any kind, as exact as `publishImplementer` wants one. */
  async publishResult<R extends Role, Options extends PublishOptions>(
    session: string,
    role: R,
    result: ResultOf<R>,
    options?: Options,
  ): Promise<PublishedBy<Options>> {
    await requireValid(role, result);
    return this.publishText(session, role, JSON.stringify(result), options);
  }

  /**
   * Publishes an agent's raw text as it is. The extractor repairs what it can; a text that holds no result ends up in
   * `DISPATCH_REJECTED`. It is tried again under one message id, with growing pauses, until there is a PubAck: the result
   * counts once.
   *
   * @throws ThroughlineError `unavailable` when the time is up or `signal` is given: the result may have been stored, and
   * can be published again under `details.messageId`. What no other attempt would change is thrown at once:
   * `permission_denied`, `too_large`, `store_full`, `config_invalid`, `token_invalid`, `schema_invalid` for an option
   */
  async publishText<Options extends PublishOptions>(
    session: string,
    role: Role,
    text: string | Uint8Array,
    options?: Options,
  ): Promise<PublishedBy<Options>> {
    const published = await publishPersistently(
      this.#transport,
      this.#closing.signal,
      session,
      role,
      text,
      options,
    );
    const waited = options?.wait === true ? { result: await this.#resultOf(session, published) } : {};
    // What is there by `wait` alone cannot be said of a type that is not known here.
    return { ...published, ...waited } as PublishedBy<Options>;
  }

  async #resultOf(session: string, { sequence: dispatch, duplicate }: Published): Promise<DispatchResult> {
    try {
      return await this.tools.dispatchShow({ session, dispatch, timeoutMs: this.#afterTimeoutMs });
    } catch (error) {
      throw withDispatch(error, { dispatch, ...(duplicate && { duplicate }) });
    }
  }

  /** The service gives up before we do: its refusal says how far the session is, a timeout says nothing. */
  get #afterTimeoutMs(): number {
    return Math.floor(this.#timeoutMs * AFTER_SHARE);
  }

  /** Asks for the next prompt. The kind of the request is that of the reply. */
  async compile<Request extends CompileRequestInput>(request: Request): Promise<CompileReplyTo<Request>> {
    const waiting = request.after === undefined ? {} : { afterTimeoutMs: this.#afterTimeoutMs };
    return this.#compiled(COMPILE_SUBJECT, { ...waiting, ...request });
  }

  /**
   * Asks for a prompt as it was when the event at `asOf` was the last one. It is neither counted nor kept, so a user who
   * may only read may ask for it.
   */
  async compilePast<Request extends CompileRequestInput & { readonly asOf: number }>(
    request: Request,
  ): Promise<CompileReplyTo<Request>> {
    return this.#compiled(PAST_PROMPT_SUBJECT, request);
  }

  async #compiled<Request extends CompileRequestInput>(
    subject: typeof COMPILE_SUBJECT | typeof PAST_PROMPT_SUBJECT,
    request: Request,
  ): Promise<CompileReplyTo<Request>> {
    const reply = await this.#reply(subject, request);
    const kind = request.kind ?? 'dispatch';
    if (reply.kind !== kind)
      throw new ThroughlineError(
        'reply_invalid',
        `a request for kind ${kind} was answered with kind ${reply.kind}`,
      );
    // The type of the reply of a kind that is not known here.
    return reply as CompileReplyTo<Request>;
  }

  /** Calls a tool by its name, with unchecked input; `tools` has a method for each. */
  async requestTool<Name extends ToolName>(name: Name, input: object): Promise<ToolReply<Name>> {
    return this.#reply(`tool.${name}`, input);
  }

  /** Sends a request about learnings by its subject, with unchecked input; `learnings` and `proposals` have a method for each. */
  async requestLearning<Subject extends LearningRequest>(
    subject: Subject,
    input: object,
  ): Promise<LearningReply<Subject>> {
    return this.#reply(subject, input);
  }

  /** Tracks the progress of a session in the `tasks.md` of a run. */
  async initRun(request: RunInitInput): Promise<RunInitReply> {
    return this.#reply(RUN_INIT_SUBJECT, request);
  }

  /** Progress of a run, and what each task needs next. */
  async runStatus(session: string): Promise<RunStatusReply> {
    return this.#reply(RUN_STATUS_SUBJECT, { session });
  }

  /** Adds entries to the trace of an intent, and waits until they are stored. */
  async appendTrace(session: string, entries: readonly TraceEntryInput[]): Promise<TraceAppended> {
    return this.#reply(TRACE_APPEND_SUBJECT, { session, entries });
  }

  /** The same without waiting, for volume: an entry may get lost, and nothing says what was wrong with one. */
  recordTrace(session: string, ...entries: readonly TraceEntryInput[]): void {
    this.#transport.send(scopedRequest(TRACE_RECORD_SUBJECT, { session }), { session, entries });
  }

  /** The compacted history of an intent, and the entries since. */
  async compactTrace(session: string, intentId: string): Promise<TraceCompacted> {
    return this.#reply(TRACE_COMPACT_SUBJECT, { session, intentId });
  }

  /** An entry of a trace as its event keeps it: an output up to 4,000 characters, of a longer one both ends. */
  async getTraceEntry(session: string, id: string, intentId?: string): Promise<TraceFound> {
    const body = { session, id, ...(intentId !== undefined && { intentId }) };
    return this.#reply(TRACE_GET_SUBJECT, body);
  }

  /** Keeps what an entry says as a constraint of its intent: its summary has it from now on. */
  async pinTraceEntry(session: string, id: string, intentId?: string): Promise<TracePinned> {
    const body = { session, id, ...(intentId !== undefined && { intentId }) };
    return this.#reply(TRACE_PIN_SUBJECT, body);
  }

  /** A hook engine whose hook gives the compacted history of the active intent. */
  hookEngine(session: string): HookEngine {
    const summary = async (intentId: string) => (await this.compactTrace(session, intentId)).summary;
    const source = {
      compactedSummary: (intentId: string) => {
        const spans = this.#transport.tracing?.();
        return spans === undefined
          ? summary(intentId)
          : spans.run(hookSpan(session), () => summary(intentId));
      },
    };
    return new HookEngine().registerPreLLM(new PreCompactHook(source).hook);
  }

  /** Sends any request to a service of Throughline, for requests that this version has no method for. */
  request(subject: string, body: object): Promise<unknown> {
    return this.#transport.request(subject, body, this.#timeoutMs);
  }

  async #reply<Subject extends ReplySubject>(subject: Subject, body: object): Promise<ReplyTo<Subject>> {
    const answered = this.request(scopedRequest(subject, body), body);
    if (!this.#checkReplies) return (await answered) as ReplyTo<Subject>;
    // Schemas load while the service works.
    const [reply, { checkedReply }] = await Promise.all([answered, loadChecks()]);
    return checkedReply(subject, reply);
  }

  /** Results that are being published are given up. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** They come with the first reply. */
function loadChecks() {
  return import('../contracts/replies/checked-reply.js');
}

/** Schemas take longer to load than all else here: they come with the first result that is checked. */
async function requireValid(role: Role, result: unknown): Promise<void> {
  if (typeof result === 'string' || result instanceof Uint8Array)
    throw new ThroughlineError(
      'schema_invalid',
      "the result is text: use publishText for an agent's raw text",
    );
  const { requireResult } = await import('../contracts/checked.js');
  requireResult(role, result);
}

/** It is stored: only what became of it is not known. */
function withDispatch(error: unknown, of: { dispatch: number; duplicate?: true }): unknown {
  if (!(error instanceof ThroughlineError)) return error;
  const stored =
    of.duplicate === true
      ? `stored before under this id, as dispatch ${of.dispatch}, maybe of another session`
      : `stored as dispatch ${of.dispatch}`;
  const message = `${stored}, but what became of it is not known: ${error.message}`;
  return new ThroughlineError(error.code, message, { cause: error, details: { ...error.details, ...of } });
}

import { setMaxListeners } from 'node:events';
import type { CompileReplyTo, CompileRequestInput } from '../contracts/compile-request.js';
import { ThroughlineError } from '../contracts/errors.js';
import type { Role } from '../contracts/kinds.js';
import type { LearningInput } from '../contracts/learning-requests.js';
import { COMPILE_SUBJECT, PAST_PROMPT_SUBJECT, scopedRequest, token } from '../contracts/names.js';
import type { DispatchResult } from '../contracts/replies/dispatch-result.js';
import type { LearningReply } from '../contracts/replies/learning-reply.js';
import type { ToolReply } from '../contracts/replies/replies.js';
import type { RunInitReply, RunStatusReply } from '../contracts/replies/run-reply.js';
import type {
  TraceAppended,
  TraceCompacted,
  TraceFound,
  TracePinned,
} from '../contracts/replies/trace-reply.js';
import {
  LEARNING_REQUEST_SUBJECTS,
  type LearningRequest,
  RUN_INIT_SUBJECT,
  RUN_STATUS_SUBJECT,
  TOOL_NAMES,
  type ToolName,
  TRACE_APPEND_SUBJECT,
  TRACE_COMPACT_SUBJECT,
  TRACE_GET_SUBJECT,
  TRACE_PIN_SUBJECT,
  TRACE_RECORD_SUBJECT,
} from '../contracts/request-names.js';
import type { ResultOf } from '../contracts/results.js';
import type { RunInitInput, RunStatusInput } from '../contracts/run-request.js';
import type { ToolInput, WideTool } from '../contracts/tool-requests.js';
import type { TraceEntryInput } from '../contracts/trace-entry.js';
import type { ClientTransport } from '../engine/ports/clients.js';
import { HookEngine, PreCompactHook } from '../memory/traces/hook-engine.js';
import { type CamelCase, type CamelCased, camelCase, camelCased } from './camel-case.js';
import {
  checkRole,
  type Published,
  type PublishedBy,
  type PublishOptions,
  publishPersistently,
} from './persistent-publish.js';
import { type WatchedEvent, type WatchInput, watchSession } from './watch-session.js';

/** Timeouts of a client. */
export interface ClientOptions {
  /** Timeout of requests, in milliseconds. Also limits the wait for a prompt with `after`. Default 10 000. */
  readonly timeoutMs?: number;
}

/** Share of the timeout that a service may wait for the result named in `after`. */
const AFTER_SHARE = 0.8;

/**
 * The client for TypeScript runtimes: publishes results of agents, and requests the next prompt.
 *
 * Every method rejects with a `ThroughlineError`, whose `code` is stable.
 */
export class ThroughlineClient {
  readonly #transport: ClientTransport;
  readonly #timeoutMs: number;
  readonly #closing = new AbortController();
  /** Tasks, notes, inbox, iterations and the session itself: one method per tool. */
  readonly tools: Tools;
  /** Learnings and proposals of a project: one method per request. */
  readonly learnings: Learnings;
  readonly proposals: Proposals;

  constructor(transport: ClientTransport, options: ClientOptions = {}) {
    this.#transport = transport;
    // One listener per waiting result.
    setMaxListeners(0, this.#closing.signal);
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.tools = createTools((name, input) => this.requestTool(name, input));
    const { learnings, proposals } = createLearnings((subject, input) =>
      this.requestLearning(subject, input),
    );
    this.learnings = learnings;
    this.proposals = proposals;
  }

  /** Returns a handle on a session, which need not exist yet. */
  session(id: string): Session {
    return new Session(this, token(id, 'session'));
  }

  /**
   * Publishes an agent's raw text unchanged. The extractor repairs it if possible; text without a result ends up in
   * `DISPATCH_REJECTED`. Retries under one message id, with growing pauses, until there is a PubAck: the result counts
   * once.
   *
   * @throws ThroughlineError `unavailable` after a timeout or an abort by `signal`: the result may have been stored,
   * and can be published again under `details.messageId`. Permanent errors are thrown at once: `permission_denied`,
   * `too_large`, `store_full`, `config_invalid`, `token_invalid`, `schema_invalid` for an option
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
    // The type depends on `wait`, which is unknown here.
    return { ...published, ...waited } as PublishedBy<Options>;
  }

  async #resultOf(session: string, { sequence: dispatch, duplicate }: Published): Promise<DispatchResult> {
    try {
      return await this.tools.dispatchShow({ session, dispatch, timeoutMs: this.#afterTimeoutMs });
    } catch (error) {
      throw withDispatch(error, { dispatch, ...(duplicate && { duplicate }) });
    }
  }

  /** The service's timeout is shorter than ours: its refusal explains the state, our timeout does not. */
  get #afterTimeoutMs(): number {
    return Math.floor(this.#timeoutMs * AFTER_SHARE);
  }

  /** Requests the next prompt. The reply has the kind of the request. */
  async compile<Request extends CompileRequestInput>(request: Request): Promise<CompileReplyTo<Request>> {
    const waiting = request.after === undefined ? {} : { afterTimeoutMs: this.#afterTimeoutMs };
    return this.#reply<CompileReplyTo<Request>>(COMPILE_SUBJECT, { ...waiting, ...request });
  }

  /** Compiles a prompt as of the event at `asOf`. It is neither counted nor kept, so read-only users may request it. */
  async compilePast<Request extends CompileRequestInput & { readonly asOf: number }>(
    request: Request,
  ): Promise<CompileReplyTo<Request>> {
    return this.#reply<CompileReplyTo<Request>>(PAST_PROMPT_SUBJECT, request);
  }

  /** Calls a tool by its name, with unchecked input; `tools` has a typed method for each. */
  async requestTool<Name extends ToolName>(name: Name, input: object): Promise<ToolReply<Name>> {
    return this.#reply(`tool.${name}`, input);
  }

  /**
   * Sends a request about learnings by its subject, with unchecked input; `learnings` and `proposals` have typed
   * methods.
   */
  async requestLearning<Subject extends LearningRequest>(
    subject: Subject,
    input: object,
  ): Promise<LearningReply<Subject>> {
    return this.#reply(subject, input);
  }

  /** Makes a session follow the `tasks.md` of a run. */
  async initRun(request: RunInitInput): Promise<RunInitReply> {
    return this.#reply(RUN_INIT_SUBJECT, request);
  }

  /** Returns the progress of a run, and the next action of each task; with `lists` its tasks, notes and messages as well. */
  async runStatus(session: string, how: Omit<RunStatusInput, 'session'> = {}): Promise<RunStatusReply> {
    return this.#reply(RUN_STATUS_SUBJECT, { session, ...how });
  }

  /**
   * Yields what happens in a session from now on, in its order: results, rejected results, commands and traces. Ends with
   * `signal` or `close`, and continues after a lost connection.
   *
   * @throws ThroughlineError if the first request fails, or a later one for another reason than `unavailable`
   */
  watch(options: WatchInput): AsyncGenerator<WatchedEvent, void> {
    return watchSession(this.#transport, this.#closing.signal, options, this.tools.timelineList);
  }

  /** Appends entries to the trace of an intent, and waits until they are stored. */
  async appendTrace(session: string, entries: readonly TraceEntryInput[]): Promise<TraceAppended> {
    return this.#reply(TRACE_APPEND_SUBJECT, { session, entries });
  }

  /** Appends entries without waiting, for volume: entries may be lost, and errors are not reported. */
  recordTrace(session: string, ...entries: readonly TraceEntryInput[]): void {
    this.#transport.send(scopedRequest(TRACE_RECORD_SUBJECT, { session }), { session, entries });
  }

  /** Returns the compacted history of an intent, and the entries since. */
  async compactTrace(session: string, intentId: string): Promise<TraceCompacted> {
    return this.#reply(TRACE_COMPACT_SUBJECT, { session, intentId });
  }

  /** Returns a trace entry as its event stores it: an output up to 4,000 characters, or both ends of a longer one. */
  async getTraceEntry(session: string, id: string, intentId?: string): Promise<TraceFound> {
    return this.#reply(TRACE_GET_SUBJECT, { session, id, intentId });
  }

  /** Pins an entry as a constraint of its intent, which its summary then shows. */
  async pinTraceEntry(session: string, id: string, intentId?: string): Promise<TracePinned> {
    return this.#reply(TRACE_PIN_SUBJECT, { session, id, intentId });
  }

  /** Creates a hook engine that injects the compacted history of the active intent. */
  hookEngine(session: string): HookEngine {
    const summary = async (intentId: string) => (await this.compactTrace(session, intentId)).summary;
    return new HookEngine().registerPreLLM(new PreCompactHook({ compactedSummary: summary }).hook);
  }

  /** Sends any request to a service, for requests that this version has no method for. */
  request(subject: string, body: object): Promise<unknown> {
    return this.#transport.request(subject, body, this.#timeoutMs);
  }

  /** The reply has the type that its schema gives: services of the same version answer so, and others are refused. */
  async #reply<Reply>(subject: string, body: object): Promise<Reply> {
    return (await this.request(scopedRequest(subject, body), body)) as Reply;
  }

  /** Stops publishing results that wait for a PubAck. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * A session, by `client.session`: its methods are those of the client, without the session. Replies have the names of
 * their fields in camelCase; those of `client.tools` are as on the wire.
 */
export class Session {
  readonly id: string;
  /** The tools of `client.tools` that are about one session: `tools.taskAdd({ content })`. */
  readonly tools: BoundTools;
  readonly #client: ThroughlineClient;

  constructor(client: ThroughlineClient, id: string) {
    this.id = id;
    this.#client = client;
    this.tools = createTools(async (name, input) =>
      camelCased(await client.requestTool(name, { ...input, session: id })),
    );
  }

  /**
   * Publishes a result, or an agent's raw text, as `publishText` does. A result has exactly the fields of its role, in
   * camelCase: throws `schema_invalid` for any other field before anything is sent. Text is repaired if possible.
   */
  async publish<R extends Role, Options extends PublishOptions>(
    role: R,
    result: Result<R> | string | Uint8Array,
    options?: Options,
  ): Promise<PublishedBy<Options>> {
    checkRole(role);
    if (typeof result === 'string' || result instanceof Uint8Array)
      return this.#client.publishText(this.id, role, result, options);
    // Schemas load slowly.
    const { wireResult } = await import('../contracts/checked.js');
    return this.#client.publishText(this.id, role, JSON.stringify(wireResult(role, result)), options);
  }

  /** Requests the next prompt. The reply has the kind of the request. */
  async compile<Request extends WithoutSession<CompileRequestInput>>(
    request: Request,
  ): Promise<CamelCased<CompileReplyTo<Request>>> {
    const reply = await this.#client.compile<CompileRequestInput>({ ...request, session: this.id });
    // The kind is unknown here.
    return camelCased(reply as CompileReplyTo<Request>);
  }

  /** Yields what happens in the session, as `client.watch` does. */
  watch(options: WithoutSession<WatchInput> = {}): AsyncGenerator<WatchedEvent, void> {
    return this.#client.watch({ ...options, session: this.id });
  }

  /** Returns the progress of the run, and the next action of each task. */
  async runStatus(): Promise<CamelCased<RunStatusReply>> {
    return camelCased(await this.#client.runStatus(this.id));
  }
}

/** The result is stored: only its fate is unknown. */
function withDispatch(error: unknown, of: { dispatch: number; duplicate?: true }): unknown {
  if (!(error instanceof ThroughlineError)) return error;
  const stored =
    of.duplicate === true
      ? `stored before under this id, as dispatch ${of.dispatch}, maybe of another session`
      : `stored as dispatch ${of.dispatch}`;
  const message = `${stored}, but what became of it is not known: ${error.message}`;
  return new ThroughlineError(error.code, message, { cause: error, details: { ...error.details, ...of } });
}

/** A result of a role, for `session.publish`: the fields of the contract, in camelCase. */
export type Result<R extends Role> = {
  [Field in keyof ResultOf<R> as CamelCase<Field & string>]: ResultOf<R>[Field];
};

/**
 * One method per tool: `tools.taskAdd({ session, content })`. The input is optional if none of its fields is required.
 */
export type Tools = {
  readonly [Name in ToolName as CamelCase<Name>]: (
    ...given: Given<ToolInput<Name>>
  ) => Promise<ToolReply<Name>>;
};

/** The tools about one session, without their field `session`. */
export type BoundTools = {
  readonly [Name in Exclude<ToolName, WideTool> as CamelCase<Name>]: (
    ...given: Given<WithoutSession<ToolInput<Name>>>
  ) => Promise<CamelCased<ToolReply<Name>>>;
};

type WithoutSession<Input> = Input extends unknown ? Omit<Input, 'session'> : never;

/** Optional if no field is required. */
type Given<Input> = object extends Input ? [input?: Input] : [input: Input];

/** The methods of either: the session is in the input, or `request` adds it. */
function createTools<Of extends Tools | BoundTools>(
  request: (name: ToolName, input: object) => Promise<unknown>,
): Of {
  const methods = TOOL_NAMES.map((name) => [camelCase(name), (input: object = {}) => request(name, input)]);
  return Object.fromEntries(methods) as Of;
}

/**
 * One method per request of a group: `learning.propose` is `propose`. The input is optional if none of its fields is
 * required.
 */
type Methods<Group extends string> = {
  readonly [Subject in LearningRequest as Subject extends `${Group}.${infer Name}`
    ? Name
    : never]: object extends LearningInput<Subject>
    ? (input?: LearningInput<Subject>) => Promise<LearningReply<Subject>>
    : (input: LearningInput<Subject>) => Promise<LearningReply<Subject>>;
};

/** The learnings of a project: `learnings.search({ query })`. */
export type Learnings = Methods<'learning'>;
/** The proposals of a project: `proposals.accept({ id, by })`. */
export type Proposals = Methods<'proposal'>;

export function createLearnings(request: (subject: LearningRequest, input: object) => Promise<unknown>): {
  readonly learnings: Learnings;
  readonly proposals: Proposals;
} {
  const methods = (group: string) =>
    Object.fromEntries(
      LEARNING_REQUEST_SUBJECTS.filter((subject) => subject.startsWith(`${group}.`)).map((subject) => [
        subject.slice(group.length + 1),
        (input: object = {}) => request(subject, input),
      ]),
    );
  return { learnings: methods('learning') as Learnings, proposals: methods('proposal') as Proposals };
}

import { setMaxListeners } from 'node:events';
import type { CompileReplyTo, CompileRequestInput } from '../contracts/compile-request.js';
import { codeOf, ThroughlineError } from '../contracts/errors.js';
import type { Role } from '../contracts/kinds.js';
import { scopedRequest, token } from '../contracts/names.js';
import type { ReplyTo, RequestInput, RequestName, WideRequest } from '../contracts/requests.js';
import type { DispatchResult } from '../contracts/result-requests.js';
import type { ResultOf } from '../contracts/results.js';
import type { ClientTransport } from '../engine/ports/client-transport.js';
import { HookEngine, PreCompactHook } from '../memory/traces/hook-engine.js';
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

/**
 * The client for TypeScript runtimes: publishes results of agents, and requests the next prompt.
 *
 * Every method rejects with a `ThroughlineError`, whose `code` is stable.
 */
export class ThroughlineClient {
  readonly #transport: ClientTransport;
  readonly #timeoutMs: number;
  /** A service waits less long for a result than we do: its refusal explains the state, our timeout does not. */
  readonly #afterTimeoutMs: number;
  readonly #closing = new AbortController();
  /** Tasks, notes, inbox, iterations and the session itself: one method per tool. */
  readonly tools = methodsOf<Tools>('tool', (subject, input) => this.send(subject, input));
  /** The plan of a session: `runs.init` makes the session follow a `tasks.md`, `runs.status` returns the progress. */
  readonly runs = methodsOf<RunMethods>('run', (subject, input) => this.send(subject, input));
  /** Traces of intents: append entries, read the compacted history, find an entry. */
  readonly traces = methodsOf<TraceMethods>('trace', (subject, input) => this.send(subject, input));
  /** Learnings and proposals of a project: one method per request. */
  readonly learnings = methodsOf<Learnings>('learning', (subject, input) => this.send(subject, input));
  readonly proposals = methodsOf<Proposals>('proposal', (subject, input) => this.send(subject, input));

  constructor(transport: ClientTransport, options: ClientOptions = {}) {
    this.#transport = transport;
    // One listener per waiting result.
    setMaxListeners(0, this.#closing.signal);
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#afterTimeoutMs = Math.floor(this.#timeoutMs * 0.8);
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

  /** Requests the next prompt. The reply has the kind of the request. */
  async compile<Request extends CompileRequestInput>(request: Request): Promise<CompileReplyTo<Request>> {
    const waiting = request.after === undefined ? {} : { afterTimeoutMs: this.#afterTimeoutMs };
    return (await this.send('prompt.compile', { ...waiting, ...request })) as CompileReplyTo<Request>;
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

  /** Creates a hook engine that injects the compacted history of the active intent. */
  hookEngine(session: string): HookEngine {
    const summary = async (intentId: string) => (await this.traces.compact({ session, intentId })).summary;
    return new HookEngine().registerPreLLM(new PreCompactHook({ compactedSummary: summary }).hook);
  }

  /** Sends a request by its name, with unchecked input; the other methods are typed. */
  async send<Name extends RequestName>(name: Name, input: object): Promise<ReplyTo<Name>> {
    try {
      // Services of the same version answer as the schema says, and others are refused.
      return (await this.request(scopedRequest(name, input), input)) as ReplyTo<Name>;
    } catch (error) {
      // A user who is limited to a session has its own project, and may not have the service read a file.
      const { project, tasksPath, ...ofSession } = input as Partial<Record<string, unknown>>;
      const isWide = project !== undefined || (tasksPath !== undefined && 'tasksText' in ofSession);
      if (codeOf(error) !== 'permission_denied' || !isWide || !('session' in input)) throw error;
      return this.send(name, ofSession);
    }
  }

  /** Sends any request to a service, for requests that this version has no method for. */
  request(subject: string, body: object): Promise<unknown> {
    return this.#transport.request(subject, body, this.#timeoutMs);
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

/** A session, by `client.session`: its methods are those of the client, without the session. */
export class Session {
  readonly id: string;
  /** The tools of `client.tools` that are about one session: `tools.taskAdd({ content })`. */
  readonly tools: Bound<'tool'>;
  readonly runs: Bound<'run'>;
  readonly traces: Bound<'trace'>;
  readonly #client: ThroughlineClient;

  constructor(client: ThroughlineClient, id: string) {
    this.id = id;
    this.#client = client;
    const send: Send = (subject, input) => client.send(subject, { ...input, session: id });
    this.tools = methodsOf('tool', send);
    this.runs = methodsOf('run', send);
    this.traces = methodsOf('trace', send);
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
  ): Promise<CompileReplyTo<Request>> {
    const reply = await this.#client.compile<CompileRequestInput>({ ...request, session: this.id });
    // The kind is unknown here.
    return reply as CompileReplyTo<Request>;
  }

  /** Yields what happens in the session, as `client.watch` does. */
  watch(options: WithoutSession<WatchInput> = {}): AsyncGenerator<WatchedEvent, void> {
    return this.#client.watch({ ...options, session: this.id });
  }
}

/** The result is stored: what became of it is unknown. */
function withDispatch(error: unknown, of: { dispatch: number; duplicate?: true }): unknown {
  if (!(error instanceof ThroughlineError)) return error;
  const before = of.duplicate === true ? ' before under this id' : '';
  const message = `stored${before} as result ${of.dispatch}, but what became of it is not known: ${error.message}`;
  return new ThroughlineError(error.code, message, { cause: error, details: { ...error.details, ...of } });
}

/** A result of a role, for `session.publish`: the fields of the contract, in camelCase. */
export type Result<R extends Role> = {
  [Field in keyof ResultOf<R> as CamelCase<Field & string>]: ResultOf<R>[Field];
};

type CamelCase<Name extends string> = Name extends `${infer Head}${'-' | '_'}${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type Send = (subject: RequestName, input: object) => Promise<unknown>;

/**
 * One method per request of a group: `taskAdd` of the group `tool` sends `tool.task-add`. The input is optional if none of its
 * fields is required.
 */
type Methods<Group extends string> = {
  readonly [Name in RequestName as Name extends `${Group}.${infer Method}` ? CamelCase<Method> : never]: (
    ...given: Given<RequestInput<Name>>
  ) => Promise<ReplyTo<Name>>;
};

/** `tools.taskAdd({ session, content })` */
export type Tools = Methods<'tool'>;
/** `runs.status({ session })` */
export type RunMethods = Methods<'run'>;
/** `traces.compact({ session, intentId })` */
export type TraceMethods = Methods<'trace'>;
/** The learnings of a project: `learnings.search({ query })`. */
export type Learnings = Methods<'learning'>;
/** The proposals of a project: `proposals.accept({ id, by })`. */
export type Proposals = Methods<'proposal'>;

/** The requests of a group that are about one session, without their field `session`. */
export type Bound<Group extends string> = {
  readonly [Name in Exclude<RequestName, WideRequest> as Name extends `${Group}.${infer Method}`
    ? CamelCase<Method>
    : never]: (...given: Given<WithoutSession<RequestInput<Name>>>) => Promise<ReplyTo<Name>>;
};

type WithoutSession<Input> = Input extends unknown ? Omit<Input, 'session'> : never;

/** Optional if no field is required. */
type Given<Input> = object extends Input ? [input?: Input] : [input: Input];

/** Names that JavaScript looks for on any object. */
const NO_METHODS: ReadonlySet<unknown> = new Set(['then', 'toJSON']);

/** The methods come from their names: a table of all requests would load all schemas. */
function methodsOf<Group extends object>(group: string, send: Send): Group {
  const method = (name: string) => {
    const subject = `${group}.${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return (input: object = {}) => send(subject as RequestName, input);
  };
  return new Proxy<Group>({} as Group, {
    get: (_, name) => (typeof name === 'symbol' || NO_METHODS.has(name) ? undefined : method(name)),
  });
}

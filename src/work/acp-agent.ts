import { Readable, Writable } from 'node:stream';
import { setImmediate as handled } from 'node:timers/promises';
import {
  type AnyMessage,
  type ClientContext,
  client,
  methods,
  ndJsonStream,
  type PermissionOptionKind,
  PROTOCOL_VERSION,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  type Stream,
} from '@agentclientprotocol/sdk';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import { defined } from '../shared/collections.js';
import { counted, isObject } from '../shared/text.js';
import { type CommandPlace, faultOf, logged, requireStarted, tokensIn } from './command-agent.js';
import type { Agent, AgentAnswer, AgentCall } from './run-types.js';

/** The answer to all requests of an agent for permission, or a function that asks a person, who sees the whole request. */
export type OnPermission = 'allow' | 'reject' | ((request: string, signal: AbortSignal) => Promise<boolean>);

/** Time that an agent has to end a cancelled turn, before its processes are told to end, in milliseconds. */
const CANCEL_MS = 5000;
/** Time that a program has to end once it has closed its output, in milliseconds. */
const CRASH_MS = 500;
/** Characters of the text that are kept, counted from the end. */
const MAX_TEXT = 16 * 1024 * 1024;
/** Options for a decision, the preferred first: `always` is remembered beyond the task, a person allows one request. */
const KINDS: Readonly<Record<'allow' | 'once' | 'reject', readonly PermissionOptionKind[]>> = {
  allow: ['allow_once', 'allow_always'],
  once: ['allow_once'],
  reject: ['reject_once', 'reject_always'],
};

/**
 * Returns an agent that speaks the Agent Client Protocol on its standard input and output; each call is a process with one
 * session. A call throws ThroughlineError `config_invalid` if its command cannot be started or opens no session.
 */
export function acpAgent(command: string, place: CommandPlace, permission: OnPermission): Agent {
  return async (call) => {
    place.folder.prompt(call.name, call.prompt);
    const over = new AbortController();
    const turn = new Turn(call, permission, () => over.abort());
    let talked: Promise<string | undefined> | undefined;
    const talk = (stdin: Writable, stdout: Readable) => {
      talked = turn.run(stdin, stdout).then(
        () => {
          over.abort();
          return undefined;
        },
        (error: unknown) => {
          // A program that crashes closes its output before it ends.
          setTimeout(() => over.abort(), CRASH_MS).unref();
          return messageOf(error);
        },
      );
    };
    const more = { THROUGHLINE_RESULT_ID: call.resultId };
    const end = await logged(command, { ...call, signal: over.signal }, talk, place, more);
    const failure = await talked;
    const name = `acp:${command}`;
    await requireStarted(call.role, name, end);
    if (failure === undefined || call.signal.aborted) return turn.answer();
    const fault = (over.signal.aborted ? undefined : await faultOf(end)) ?? failure;
    if (turn.hasSession) return { ...turn.answer(), fault };
    throw new ThroughlineError(
      'config_invalid',
      `--${call.role} ${JSON.stringify(name)} opens no session of the Agent Client Protocol: ${fault}; ` +
        'run the command by hand: it must speak the protocol, and be signed in',
    );
  };
}

/**
 * Drops answers whose id is not a number, as those of our requests are. The SDK prints an unknown id on the terminal as it is: with
 * escape sequences in it an agent would overwrite what a person is asked.
 */
function withoutStrayAnswers({ readable, writable }: Stream): Stream {
  const numbered = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, passed) {
      if ('method' in message || typeof message.id === 'number') passed.enqueue(message);
    },
  });
  return { writable, readable: readable.pipeThrough(numbered) };
}

class Turn {
  readonly #call: AgentCall;
  readonly #permission: OnPermission;
  readonly #end: () => void;
  #cancel: (() => void) | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #text = '';
  /** Identifies the message at the end of the text. */
  #message: string | undefined;
  #cost: number | undefined;
  #response: PromptResponse | undefined;
  #refused = 0;
  /** The fields of each tool call as the agent sent them before it asked: a request for permission may leave them out. */
  readonly #toolCalls = new Map<string, object>();

  constructor(call: AgentCall, permission: OnPermission, end: () => void) {
    this.#call = call;
    this.#permission = permission;
    this.#end = end;
  }

  get hasSession(): boolean {
    return this.#cancel !== undefined;
  }

  async run(stdin: Writable, stdout: Readable): Promise<void> {
    const { signal } = this.#call;
    const stop = () => this.#stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) return;
      await client()
        .onRequest(methods.client.session.requestPermission, ({ params }) => this.#permit(params))
        .onNotification(methods.client.session.update, ({ params }) => this.#take(params.update))
        .connectWith(
          withoutStrayAnswers(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout))),
          (agent) => this.#prompt(agent),
        );
    } finally {
      signal.removeEventListener('abort', stop);
      clearTimeout(this.#deadline);
    }
  }

  async #prompt(agent: ClientContext): Promise<void> {
    const { initialize, session } = methods.agent;
    const { directory, prompt } = this.#call;
    await agent.request(initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    const { sessionId } = await agent.request(session.new, { cwd: directory, mcpServers: [] });
    this.#cancel = () => void agent.notify(session.cancel, { sessionId }).catch(() => {});
    const content = [{ type: 'text' as const, text: prompt }];
    this.#response = await agent.request(session.prompt, { sessionId, prompt: content });
    // Updates that came before the response are still being handled.
    await handled();
  }

  #stop(): void {
    this.#cancel?.();
    this.#deadline ??= setTimeout(this.#end, this.hasSession ? CANCEL_MS : 0);
  }

  #take(update: SessionUpdate): void {
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') {
      const id = update.messageId ?? '';
      this.#text += `${id === this.#message || this.#text === '' ? '' : '\n\n'}${update.content.text}`;
      if (this.#text.length > 2 * MAX_TEXT) this.#text = this.#text.slice(-MAX_TEXT);
      this.#message = id;
    }
    if (update.sessionUpdate === 'tool_call') this.#message = undefined;
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      const { sessionUpdate: _, toolCallId: id, status: __, ...call } = update;
      this.#toolCalls.set(id, { ...this.#toolCalls.get(id), ...call });
    }
    if (update.sessionUpdate === 'usage_update' && update.cost?.currency === 'USD')
      this.#cost = update.cost.amount;
  }

  async #permit({ options, toolCall }: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const { signal } = this.#call;
    const answer = this.#permission;
    const { toolCallId: id, ...fields } = toolCall;
    const request = { ...this.#toolCalls.get(id), ...fields };
    const asksPerson = typeof answer !== 'string';
    const isAllowed = asksPerson
      ? await answer(JSON.stringify(request, null, 2), signal)
      : answer === 'allow';
    const allows = asksPerson ? 'once' : 'allow';
    const kinds = signal.aborted ? [] : KINDS[isAllowed ? allows : 'reject'];
    const option = kinds.flatMap((kind) => options.filter((candidate) => candidate.kind === kind))[0];
    if (option === undefined || !isAllowed) this.#refused += 1;
    if (option === undefined) return { outcome: { outcome: 'cancelled' } };
    return { outcome: { outcome: 'selected', optionId: option.optionId } };
  }

  answer(): AgentAnswer {
    const response: unknown = this.#response;
    const usage = isObject(response) && isObject(response.usage) ? response.usage : {};
    const use = defined({ tokens: tokensIn(usage) || undefined, cost: this.#cost });
    const reason = this.#response?.stopReason ?? 'end_turn';
    const faults = [
      ...(reason === 'end_turn' ? [] : [`stopped by ${reason}`]),
      ...(this.#refused === 0 ? [] : [`${counted(this.#refused, 'request')} for permission refused`]),
    ];
    return { text: this.#text, ...use, ...(faults.length > 0 && { fault: faults.join('; ') }) };
  }
}

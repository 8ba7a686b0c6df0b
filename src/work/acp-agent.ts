import { createHash } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { setImmediate as handled } from 'node:timers/promises';
import {
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
} from '@agentclientprotocol/sdk';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import { kindOf } from '../contracts/kinds.js';
import { redacted } from '../memory/redaction/redacted.js';
import { isObject, oneLine } from '../shared/text.js';
import { type CommandPlace, faultOf, logged, notStarted, wasNotStarted } from './command-agent.js';
import type { Agent, AgentAnswer, AgentCall } from './run-types.js';

/** Who decides when an agent asks for permission: a person, or one answer for all. */
export type OnPermission = 'ask' | 'allow' | 'reject';

/** Time that an agent has to end a cancelled turn, before its processes are told to end, in milliseconds. */
const CANCEL_MS = 5000;
/** Time that a program has to end once it has closed its output, in milliseconds. */
const CRASH_MS = 500;
/** Characters of the text that are kept, counted from the end. */
const MAX_TEXT = 16 * 1024 * 1024;
/** Characters of a request for permission in its question. */
const MAX_ASKED = 300;
const CHOICES = ['allow', 'allow all', 'reject'];
/** Answers that a call repeats in its result, below the limit of questions. */
const MOST_REPEATED = 9;
/** Options for a decision, the preferred one first: a client remembers `always` beyond the task. */
const KINDS: Readonly<Record<'allow' | 'reject', readonly PermissionOptionKind[]>> = {
  allow: ['allow_once', 'allow_always'],
  reject: ['reject_once', 'reject_always'],
};

/**
 * Returns an agent that is driven through the Agent Client Protocol: a shell command that speaks it on its standard input and
 * output. Each call is a process with one session. A request for permission that needs a person ends the call with a blocked
 * result that asks the person. The next call of the task uses the answer.
 *
 * @throws ThroughlineError `config_invalid`, from a call whose command cannot be started or opens no session
 */
export function acpAgent(command: string, place: CommandPlace, permissions: OnPermission): Agent {
  /** Answers by task: a session shows those of the newest result alone. */
  const known = new Map<string, Map<string, string>>();
  return async (call) => {
    place.folder.prompt(call.name, call.prompt);
    const answers = known.get(call.task) ?? new Map<string, string>();
    for (const { question, answer } of await call.answers()) answers.set(question, answer);
    known.set(call.task, answers);
    const over = new AbortController();
    const turn = new Turn(call, permissions, answers, () => over.abort());
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
    if (wasNotStarted(end)) throw await notStarted(call.role, name, end);
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

class Turn {
  readonly #call: AgentCall;
  readonly #permissions: OnPermission;
  readonly #answers: ReadonlyMap<string, string>;
  readonly #end: () => void;
  #cancel: (() => void) | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #text = '';
  /** Identifies the message at the end of the text. */
  #message: string | undefined;
  #cost: number | undefined;
  #response: PromptResponse | undefined;
  #question: string | undefined;

  constructor(
    call: AgentCall,
    permissions: OnPermission,
    answers: ReadonlyMap<string, string>,
    end: () => void,
  ) {
    this.#call = call;
    this.#permissions = permissions;
    this.#answers = answers;
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
        .connectWith(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)), (agent) =>
          this.#prompt(agent),
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
    this.#response = await agent.request(session.prompt, {
      sessionId,
      prompt: [{ type: 'text', text: prompt }],
    });
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
    if (update.sessionUpdate === 'usage_update' && update.cost?.currency === 'USD')
      this.#cost = update.cost.amount;
  }

  async #permit(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const question = await questionOf(request, this.#call.role);
    const choice = this.#permissions === 'ask' ? this.#answered(question) : this.#permissions;
    if (choice === undefined) this.#question ??= question;
    if (this.#question !== undefined) this.#stop();
    const kinds = choice === undefined ? [] : KINDS[choice];
    const option = kinds.flatMap((kind) => request.options.filter((each) => each.kind === kind))[0];
    return this.#question !== undefined || option === undefined || this.#call.signal.aborted
      ? { outcome: { outcome: 'cancelled' } }
      : { outcome: { outcome: 'selected', optionId: option.optionId } };
  }

  #answered(question: string): 'allow' | 'reject' | undefined {
    const given = this.#answers.get(question);
    if (given !== undefined) return /^(allow( all)?|yes)$/i.test(given.trim()) ? 'allow' : 'reject';
    const isAll = [...this.#answers].some(
      ([asked, answer]) => asked.startsWith(opening(this.#call.role)) && /^allow all$/i.test(answer.trim()),
    );
    return isAll ? 'allow' : undefined;
  }

  answer(): AgentAnswer {
    const use = { ...tokensOf(this.#response), ...(this.#cost !== undefined && { cost: this.#cost }) };
    if (this.#question !== undefined) return { text: this.#blocked(this.#question), ...use };
    const reason = this.#response?.stopReason ?? 'end_turn';
    return { text: this.#text, ...use, ...(reason !== 'end_turn' && { fault: `stopped by ${reason}` }) };
  }

  /** Returns a blocked result. It repeats earlier questions, because a task shows the answers of its newest result alone. */
  #blocked(question: string): string {
    const { task, role } = this.#call;
    const earlier = [...this.#answers.keys()].slice(-MOST_REPEATED).map((text) => ({ text }));
    return JSON.stringify({
      task_id: task,
      [kindOf(role).verdictField ?? 'status']: 'blocked',
      summary: 'It needs the permission of a person',
      questions: [...earlier, { text: question, options: CHOICES }],
    });
  }
}

const opening = (role: string) => `May the ${role} do this: `;

/** Returns the question about a request: the same for the same request. One that is not shown in full ends with its hash. */
async function questionOf({ toolCall }: RequestPermissionRequest, role: string): Promise<string> {
  const { title, kind, rawInput, locations } = toolCall;
  // A model writes some titles: where there is a command, it alone is the request.
  const command = isObject(rawInput) && typeof rawInput.command === 'string' ? rawInput.command : undefined;
  const first = command ?? title ?? kind ?? 'use a tool';
  const paths = (locations ?? []).map(({ path }) => path).filter((each) => !first.includes(each));
  const whole = await redacted([first, ...new Set(paths)].join(', '));
  const asked = oneLine(whole);
  if (asked === whole && asked.length <= MAX_ASKED) return `${opening(role)}${asked}?`;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 12);
  return `${opening(role)}${asked.slice(0, MAX_ASKED)}… (${hash})?`;
}

/** Returns the tokens of a turn, which the protocol names in a draft, and Gemini in a format of its own. */
function tokensOf(response: object | undefined): { readonly tokens?: number } {
  const sumOf = (value: unknown, ...names: string[]) =>
    isObject(value) ? names.reduce((sum, name) => sum + (Number(value[name]) || 0), 0) : 0;
  const inside = (value: unknown, name: string) => (isObject(value) ? value[name] : undefined);
  const usage = inside(response, 'usage');
  const quota = inside(inside(inside(response, '_meta'), 'quota'), 'token_count');
  const tokens =
    sumOf(usage, 'totalTokens') ||
    sumOf(usage, 'inputTokens', 'outputTokens') ||
    sumOf(quota, 'input_tokens', 'output_tokens');
  return tokens > 0 ? { tokens } : {};
}

import { isRole, kindOf, ROLES, type Role } from '../../contracts/kinds.js';
import type { ThroughlineClient } from '../../sdk/throughline-client.js';
import { isObject, jsonOf } from '../../shared/text.js';
import type { AgentSession } from '../agent-session.js';
import type { HookState } from './hook-state.js';
import type { HookClient, HookEvent } from './hook-table.js';
import type { Spool } from './spool.js';

/** Context of hooks, ours too, that Gemini CLI puts before the prompt of a headless run. */
const CONTEXT = /^\s*<hook_context>[\s\S]*?<\/hook_context>\s*/;

/** A call of a tool, as a hook or a transcript describes it. Texts that the client leaves out are empty. */
export interface ToolCall {
  readonly callId: string;
  /** Time in ISO 8601. */
  readonly at: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly response: unknown;
  readonly error: string;
  readonly hasFailed: boolean;
}

/** A client's hook call in our terms. Fields it leaves out are undefined, or empty if they are text. */
export interface HookCall extends ToolCall {
  readonly event: HookEvent;
  readonly conversation: string;
  readonly turn: string;
  /** Working directory of the agent; empty if the client does not send it. */
  readonly directory: string;
  /** Names the sub-agent; empty in the agent that the user talks to. */
  readonly agent: string;
  readonly agentName: string;
  readonly source: string;
  readonly prompt: string;
  /** The user has marked the whole prompt as private: nothing of its turn is kept. */
  readonly isPrivate: boolean;
  readonly message: string | undefined;
  readonly transcript: string;
  /** Calls since the event before, from a client that collects them itself. */
  readonly calls: readonly ToolCall[];
  /** The agent was sent back already, by this hook or another. */
  readonly again: boolean;
}

/** Reads a payload of a client. Returns why it is not used, for a text that cannot be read or an event that is not taken. */
export function readCall(client: HookClient, text: string): HookCall | { readonly unused: string } {
  const payload = jsonOf(text);
  if (payload === undefined) return { unused: `the input is not JSON (${text.length} characters)` };
  if (!isObject(payload)) return { unused: 'the input is not a JSON object' };
  const { fields, foreign } = client;
  const name = textOf(payload[fields.event]);
  const event = client.events.find((candidate) => candidate.name === name);
  if (event === undefined)
    return { unused: `event ${JSON.stringify(name.slice(0, 80))} is not one that is taken` };
  if (foreign !== undefined && foreign in payload)
    return { unused: 'it is from Copilot CLI, which has hooks of its own: "throughline connect copilot"' };
  const field = (key: keyof typeof fields) => textOf(payload[fields[key] ?? '']);
  const { calls, workspace_roots: roots } = payload;
  const message = payload[event.message ?? fields.message];
  const again = payload[fields.again];
  const prompt = field('prompt').replace(CONTEXT, '');
  return {
    ...toolCallOf(payload, fields),
    hasFailed: event.failed === true,
    event,
    conversation: field('parent') || field('conversation'),
    turn: field('turn'),
    directory: field('directory') || textOf(Array.isArray(roots) ? roots[0] : undefined),
    agent: field('agent'),
    agentName: field('agentName'),
    source: field('source'),
    prompt: withoutPrivate(prompt),
    isPrivate: prompt.trim() !== '' && withoutPrivate(prompt).trim() === '',
    message: typeof message === 'string' ? withoutPrivate(message) : undefined,
    transcript: event.moment === 'agent-stop' ? field('agentTranscript') : field('transcript'),
    calls: Array.isArray(calls) ? calls.filter(isObject).map((call) => toolCallOf(call, fields)) : [],
    again: again === true || (typeof again === 'number' && again > 0),
  };
}

function toolCallOf(payload: Readonly<Record<string, unknown>>, fields: HookClient['fields']): ToolCall {
  return {
    callId: textOf(payload.tool_use_id),
    at: textOf(payload.timestamp),
    tool: textOf(payload[fields.tool]),
    input: objectOf(payload[fields.input]),
    response: payload[fields.response],
    error: withoutPrivate(textOf(payload[fields.error])),
    hasFailed: false,
  };
}

/** A text without what a person marked as private. An unclosed mark hides all that follows. */
export function withoutPrivate(text: string, instead = ''): string {
  return text.replace(/<private>[\s\S]*?(?:<\/private>|$(?![\s\S]))/gi, instead);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  if (typeof value !== 'string') return {};
  const read = jsonOf(value);
  if (read === undefined) return { command: value };
  return isObject(read) ? read : {};
}

/** Agents whose name says that they owe a result. */
const OWED: readonly Role[] = ROLES.filter((role) => kindOf(role).part !== 'note');

/**
 * The role of an agent: what `agents` says of its name, else its name where that is `implementer` or `reviewer`, with or
 * without the name of a plugin before it, as in `throughline:reviewer`.
 *
 * @param name empty for the agent that the user talks to, which `agents` calls `main`
 */
export function roleOfAgent(name: string, agents: Readonly<Record<string, string>> = {}): Role | undefined {
  const given = givenTo(name, agents);
  if (given !== undefined) return isRole(given) ? given : undefined;
  const bare = bareName(name).toLowerCase();
  return OWED.find((role) => role === bare);
}

/** True for an agent that `agents` lists as a reader, or that `readers`, those of the client, has and `agents` does not. */
export function onlyReads(
  name: string,
  readers: readonly string[],
  agents: Readonly<Record<string, string>> = {},
): boolean {
  const given = givenTo(name, agents);
  return given === undefined ? readers.includes(name) : given === 'reader';
}

function givenTo(name: string, agents: Readonly<Record<string, string>>): string | undefined {
  return name === '' ? agents.main : (agents[name] ?? agents[bareName(name)]);
}

function bareName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1);
}

/** Answer to the client, encoded by `HookClient.write`; `undefined` for none. */
export type HookAnswer = string | Readonly<Record<string, unknown>> | undefined;

export type Answering = () => Promise<HookAnswer>;

export interface HookTools {
  readonly name: string;
  readonly client: HookClient;
  readonly at: AgentSession;
  readonly state: HookState;
  readonly spool: Spool;
  /** Time of the event in ISO 8601. */
  readonly now: string;
  /** Connects, once: only what asks the server pays for it. */
  readonly connect: () => Promise<ThroughlineClient>;
  readonly redact: <T>(value: T) => Promise<T>;
  readonly person: (directory: string) => string | undefined;
  readonly log: (line: string) => void;
  readonly leftMs: () => number;
  /** True for a call that was kept raw: no agent waits for its answer, and nothing is sent with it. */
  readonly isLate?: boolean;
}

export function agentKey(
  { conversation, agent }: Pick<HookCall, 'conversation' | 'agent'>,
  { name }: Pick<HookTools, 'name'>,
): string {
  return JSON.stringify([name, conversation, agent]);
}

/** Names what is kept of a conversation: the agent that the user talks to stands for its sub-agents. */
export function conversationKey(
  what: 'missed' | 'owed' | 'private' | 'running' | 'session' | 'turn',
  call: Pick<HookCall, 'conversation'>,
  tools: Pick<HookTools, 'name'>,
): string {
  return `${what} ${agentKey({ ...call, agent: '' }, tools)}`;
}

/**
 * The task that a text names first: `TAS-12` of a board, or the id after the word task, as in `task 2.1`, `Task ID: T014`
 * or `task_id: "api-3"`. An id holds a digit. Undefined for a text that names none.
 */
export function namedTask(text: string): string | undefined {
  const match = NAMED.exec(text);
  const id = match?.groups?.board?.toUpperCase() ?? match?.groups?.id;
  return id?.replace(/[.-]+$/, '');
}

const NAMED =
  /\b(?<board>TAS-\d{1,9})\b|\btask(?:[ _-]?(?:id|number|no\.?))?(?![a-z])[ \t"'`:#=]{0,8}(?<id>(?=[A-Za-z._-]{0,40}\d)[A-Za-z0-9][A-Za-z0-9._-]{0,63})/i;

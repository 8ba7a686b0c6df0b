/**
 * The hooks of every client: which of its events we take, what is done then, and in which words the answer is written.
 * One event more is one entry here; docs/reference/clients.md is written from this table, and `throughline connect` reads it.
 */

/** Agent lifecycle events, independent of what each client calls them. */
export const MOMENTS = {
  'session-start':
    'returns the `session-start` prompt as context; after a compaction also the compacted history of this conversation. Sets project and plan of a new session',
  prompt:
    'stores the prompt as a REQUEST in the trace. Adds the memory of the task that the prompt names, otherwise at most six lines that fit it',
  'before-agent':
    'replaces the prompt of a sub-agent that names a task by the dispatch prompt of that task; for a reader, appends the memory of the task',
  'after-tool':
    'stores tool, files, command and status for the trace. Every half minute it also sends them, and tells the agent its news in at most 100 tokens: an answer, a message, a required fix of its task',
  said: 'remembers the message, for a client whose stop event does not have it',
  text: 'publishes the last result block of a text, if it can be read: the agent may still continue',
  'agent-stop':
    'publishes the last result block of the last message. An agent that received the contract and returns none is sent back once. Otherwise the turn is published by rule',
  stop: 'the same for the agent that you talk to',
  'before-compaction': 'sends the stored entries, so that nothing is lost',
  'session-end': 'sends the stored entries',
} as const;
type Moment = keyof typeof MOMENTS;

/** Answers to an event: context for the model, a changed tool input, or a request to continue. */
type AnswerKind = 'context' | 'input' | 'again';

export interface HookEvent {
  /** The client's name for it. */
  readonly name: string;
  readonly moment: Moment;
  /** Left out for an event that only tells. */
  readonly answer?: AnswerKind;
  /** Pattern of tool names; left out for all. */
  readonly matcher?: string;
  /** The tool has failed. */
  readonly failed?: true;
  /** The client goes on without waiting for it. */
  readonly async?: true;
  /** The field of the last message, where it is another than in the client's other events. */
  readonly message?: string;
}

interface PayloadFields {
  readonly event: string;
  /** Names the conversation. */
  readonly conversation: string;
  /** The conversation that an agent was started in, in a client where an agent's events name the agent as their conversation. */
  readonly parent?: string;
  /** Names the turn: the same from a prompt to the next one. */
  readonly turn: string;
  readonly directory: string;
  readonly agent: string;
  readonly agentName: string;
  readonly source: string;
  readonly prompt: string;
  readonly tool: string;
  readonly input: string;
  readonly response: string;
  readonly error: string;
  readonly message: string;
  /** Path of the transcript, where no event has the last message. */
  readonly transcript?: string;
  /** True, or a count above 0, in an agent that was sent back. */
  readonly again: string;
}

/** A tool that hands work to a sub-agent: the fields of its input. */
interface AgentTool {
  readonly prompt: string;
  readonly agentName: string;
  /** The result of the sub-agent is read from what the tool answers: no other event has it. */
  readonly returns?: true;
}

export interface HookClient {
  readonly title: string;
  /** The version that the table was checked against, and how. */
  readonly checked: string;
  readonly events: readonly HookEvent[];
  readonly fields: PayloadFields;
  readonly agentTools: Readonly<Record<string, AgentTool>>;
  /** Agents of the client that only look, by their names: they owe no result. */
  readonly readers: readonly string[];
  /** Most tokens of the context of one answer, and most characters; a longer one is not given. */
  readonly contextTokens: number;
  readonly maxContext: number;
  /** Encodes an answer with exactly the keys that the client knows. */
  readonly write: Readonly<Record<AnswerKind, (value: unknown, event: string) => object>>;
  /** Field of a payload that comes from another client, which reads the configuration of this one as well. */
  readonly foreign?: string;
  /** It never says that a command has failed. */
  readonly hidesFailures?: true;
  readonly cannot: readonly string[];
}

const FIELDS: PayloadFields = {
  event: 'hook_event_name',
  conversation: 'session_id',
  turn: 'prompt_id',
  directory: 'cwd',
  agent: 'agent_id',
  agentName: 'agent_type',
  source: 'source',
  prompt: 'prompt',
  tool: 'tool_name',
  input: 'tool_input',
  response: 'tool_response',
  error: 'error',
  message: 'last_assistant_message',
  again: 'stop_hook_active',
};

const specific = (hookEventName: string, more: object) => ({
  hookSpecificOutput: { hookEventName, ...more },
});
const additionalContext = (value: unknown, event: string) => specific(event, { additionalContext: value });
const block = (reason: unknown) => ({ decision: 'block', reason });

const CLAUDE_EVENTS = [
  { name: 'SessionStart', moment: 'session-start', answer: 'context' },
  { name: 'UserPromptSubmit', moment: 'prompt', answer: 'context' },
  { name: 'PreToolUse', moment: 'before-agent', answer: 'input', matcher: 'Agent|Task' },
  { name: 'PostToolUse', moment: 'after-tool', answer: 'context', async: true },
  { name: 'PostToolUseFailure', moment: 'after-tool', failed: true, async: true },
  { name: 'SubagentStop', moment: 'agent-stop', answer: 'again' },
  { name: 'Stop', moment: 'stop', answer: 'again' },
  { name: 'PreCompact', moment: 'before-compaction' },
  { name: 'SessionEnd', moment: 'session-end' },
] as const satisfies readonly HookEvent[];
/** Limits of a client that takes long answers. */
const WIDE = { contextTokens: 8000, maxContext: 40_000 };
const NARROW = { contextTokens: 2000, maxContext: 9000 };
/** Most characters of an answer that is not context; a longer one is not given. */
export const MAX_ANSWER = 49_000;

export const HOOK_CLIENTS = {
  claude: {
    title: 'Claude Code',
    checked: '2.1.332, run, and hook types of `@anthropic-ai/claude-agent-sdk` 0.3.330',
    events: CLAUDE_EVENTS,
    fields: FIELDS,
    agentTools: {
      Agent: { prompt: 'prompt', agentName: 'subagent_type' },
      Task: { prompt: 'prompt', agentName: 'subagent_type' },
    },
    readers: ['Explore', 'Plan'],
    foreign: 'timestamp',
    ...WIDE,
    write: {
      context: additionalContext,
      input: (value, event) => specific(event, { updatedInput: value }),
      again: block,
    },
    cannot: ['give context before a compaction: it comes with the `SessionStart` after it'],
  },
  codex: {
    title: 'Codex CLI',
    checked: '0.171.0, run, and the hook schemas of its source',
    events: [
      { name: 'SessionStart', moment: 'session-start', answer: 'context' },
      { name: 'UserPromptSubmit', moment: 'prompt', answer: 'context' },
      { name: 'PreToolUse', moment: 'before-agent', answer: 'input', matcher: 'spawn_agent' },
      { name: 'PostToolUse', moment: 'after-tool', answer: 'context' },
      { name: 'SubagentStop', moment: 'agent-stop', answer: 'again' },
      { name: 'Stop', moment: 'stop', answer: 'again' },
      { name: 'PreCompact', moment: 'before-compaction' },
      { name: 'SessionEnd', moment: 'session-end' },
    ],
    fields: { ...FIELDS, turn: 'turn_id' },
    agentTools: { spawn_agent: { prompt: 'message', agentName: 'agent_type' } },
    readers: ['explorer'],
    hidesFailures: true,
    // It keeps about 2500 tokens of a context; more goes into a file.
    ...NARROW,
    write: {
      context: additionalContext,
      // It takes another input only from a hook that allows the call.
      input: (value, event) => specific(event, { permissionDecision: 'allow', updatedInput: value }),
      again: block,
    },
    cannot: [
      'run a hook that the user has not trusted: it is skipped without a word',
      'take an answer with a key that it does not know: the whole answer is dropped',
      'tell that a command has failed: every command is a success in the trace',
    ],
  },
  gemini: {
    title: 'Gemini CLI',
    checked: '0.61.0, run',
    events: [
      { name: 'SessionStart', moment: 'session-start', answer: 'context' },
      { name: 'BeforeAgent', moment: 'prompt', answer: 'context' },
      { name: 'BeforeTool', moment: 'before-agent', answer: 'input', matcher: 'invoke_agent' },
      { name: 'AfterTool', moment: 'after-tool', answer: 'context' },
      { name: 'AfterAgent', moment: 'stop', answer: 'again' },
      { name: 'SessionEnd', moment: 'session-end' },
    ],
    fields: { ...FIELDS, message: 'prompt_response' },
    agentTools: { invoke_agent: { prompt: 'prompt', agentName: 'agent_name', returns: true } },
    readers: ['codebase_investigator'],
    ...WIDE,
    write: {
      context: additionalContext,
      input: (value, event) => specific(event, { tool_input: value }),
      again: (reason) => ({ decision: 'deny', reason }),
    },
    cannot: [
      'send a sub-agent back: its result is taken from what it returns to the main agent',
      'say that there was a compaction: its event for one comes before every request, so it is not taken',
      'keep apart what a sub-agent does: its tools are in the trace as those of the main agent',
    ],
  },
  copilot: {
    title: 'Copilot CLI',
    checked: '1.0.102, run',
    // In these names its payloads have the fields of Claude Code; in its own ones, none that names the event.
    events: CLAUDE_EVENTS,
    fields: { ...FIELDS, response: 'tool_result', parent: 'parent_agent_id', transcript: 'transcript_path' },
    agentTools: { Agent: { prompt: 'prompt', agentName: 'agent_type' } },
    readers: ['explore', 'research', 'rubber-duck', 'code-review', 'security-review'],
    // Context with a tool is cut at 10 KB.
    ...NARROW,
    write: {
      context: (value) => ({ additionalContext: value }),
      input: (value) => ({ modifiedArgs: value }),
      again: block,
    },
    cannot: [
      'give its last message to a hook: it is read from the transcript',
      'say when a compaction is over: the history of the conversation is not given again',
      'start the MCP server of a plugin in the project: `throughline connect copilot` can',
    ],
  },
  cursor: {
    title: 'Cursor',
    checked: 'its documentation of November 2026; not run',
    events: [
      { name: 'sessionStart', moment: 'session-start', answer: 'context' },
      { name: 'beforeSubmitPrompt', moment: 'prompt' },
      { name: 'preToolUse', moment: 'before-agent', answer: 'input', matcher: 'Task' },
      { name: 'postToolUse', moment: 'after-tool' },
      { name: 'postToolUseFailure', moment: 'after-tool', failed: true },
      { name: 'afterAgentResponse', moment: 'said', message: 'text' },
      { name: 'subagentStop', moment: 'agent-stop', answer: 'again', message: 'summary' },
      { name: 'stop', moment: 'stop', answer: 'again' },
      { name: 'preCompact', moment: 'before-compaction' },
      { name: 'sessionEnd', moment: 'session-end' },
    ],
    fields: {
      ...FIELDS,
      conversation: 'conversation_id',
      turn: 'generation_id',
      agent: 'subagent_id',
      agentName: 'subagent_type',
      response: 'tool_output',
      error: 'error_message',
      again: 'loop_count',
    },
    agentTools: { Task: { prompt: 'prompt', agentName: 'subagent_type' } },
    readers: ['explore'],
    ...WIDE,
    write: {
      context: (value) => ({ additional_context: value }),
      input: (value) => ({ permission: 'allow', updated_input: value }),
      again: (reason) => ({ followup_message: reason }),
    },
    cannot: ['give context with a prompt: only the start of a session can'],
  },
  opencode: {
    title: 'opencode',
    checked: '1.18.33, run, through the plugin that `throughline connect opencode` writes',
    events: [
      { name: 'session.start', moment: 'session-start', answer: 'context' },
      { name: 'chat.message', moment: 'prompt', answer: 'context' },
      { name: 'tool.execute.before', moment: 'before-agent', answer: 'input', matcher: 'task' },
      { name: 'tool.execute.after', moment: 'after-tool' },
      { name: 'experimental.text.complete', moment: 'text' },
      { name: 'subagent.stop', moment: 'agent-stop', answer: 'again' },
      { name: 'session.idle', moment: 'stop', answer: 'again' },
      { name: 'experimental.session.compacting', moment: 'before-compaction', answer: 'context' },
      { name: 'session.end', moment: 'session-end' },
    ],
    fields: { ...FIELDS, turn: 'message_id' },
    agentTools: { task: { prompt: 'prompt', agentName: 'subagent_type' } },
    readers: ['explore', 'plan'],
    ...WIDE,
    write: {
      context: (context) => ({ context }),
      input: (input) => ({ input }),
      again: (again) => ({ again }),
    },
    cannot: [
      'send the agent that the user talks to back at the end of `opencode run`, which is over by then; a sub-agent is sent back',
      'tell when a sub-agent in the background stops: its result is read from what it writes',
    ],
  },
} as const satisfies Readonly<Record<string, HookClient>>;

export type HookClientName = keyof typeof HOOK_CLIENTS;

/** The entry of a client; `undefined` for a name that is none. */
export function hookClient(name: string): HookClient | undefined {
  return Object.hasOwn(HOOK_CLIENTS, name) ? HOOK_CLIENTS[name as HookClientName] : undefined;
}

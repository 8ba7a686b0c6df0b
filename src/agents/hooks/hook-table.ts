/**
 * The hooks of every client: which of its events we take, what is done then, and in which words the answer is written.
 * One event more is one entry here; docs/reference/clients.md is written from this table, and `throughline connect` reads it.
 */

/** Agent lifecycle events, independent of what each client calls them. */
export type Moment =
  | 'session-start'
  | 'prompt'
  | 'before-agent'
  | 'after-tool'
  | 'message'
  | 'text'
  | 'agent-stop'
  | 'stop'
  | 'before-compaction';

/** Answers to an event: context for the model, a changed tool input, or a request to continue. */
type AnswerKind = 'context' | 'input' | 'again';

export interface HookEvent {
  readonly name: string;
  readonly moment: Moment;
  /** Left out for an event that only tells. */
  readonly answer?: AnswerKind;
  /** Pattern of tool names; left out for all. */
  readonly matcher?: string;
  readonly failed?: true;
  /** The field of the last message, where it is another than in the client's other events. */
  readonly message?: string;
}

export type TranscriptFormat = 'claude' | 'codex' | 'gemini';

type PayloadFields = Readonly<typeof FIELDS> & {
  /** The conversation that an agent was started in, in a client where an agent's events name the agent as their conversation. */
  readonly parent?: string;
};

interface AgentTool {
  readonly prompt: string;
  readonly agentName: string;
  /** The result of the sub-agent is read from what the tool answers: no event has it. */
  readonly returns?: true;
}

export interface HookClient {
  readonly title: string;
  readonly events: readonly HookEvent[];
  readonly fields: PayloadFields;
  readonly agentTools: Readonly<Record<string, AgentTool>>;
  /** Agents of the client that only look, by their names: they owe no result. */
  readonly readers: readonly string[];
  /** Most tokens of the context of one answer, and most characters; a longer one is not given. */
  readonly contextTokens: number;
  readonly maxContext: number;
  readonly write: Readonly<Record<AnswerKind, (value: unknown, event: string) => object>>;
  /** Field of a payload that comes from another client, which reads the configuration of this one as well. */
  readonly foreign?: string;
  /** Its transcript has the calls of tools in time: no hook is needed for each of them. */
  readonly keepsCalls?: TranscriptFormat;
  /** Its last message is only in the transcript, which is written late. */
  readonly writesLate?: true;
}

const FIELDS = {
  event: 'hook_event_name',
  conversation: 'session_id',
  /** Names the turn: the same from a prompt to the next one. */
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
  transcript: 'transcript_path',
  agentTranscript: 'agent_transcript_path',
  /** True, or a count above 0, in an agent that was sent back. */
  again: 'stop_hook_active',
};

const specific = (hookEventName: string, more: object) => ({
  hookSpecificOutput: { hookEventName, ...more },
});
const additionalContext = (value: unknown, event: string) => specific(event, { additionalContext: value });
const block = (reason: unknown) => ({ decision: 'block', reason });

const eventsOf = (agentTool: string): readonly HookEvent[] => [
  { name: 'SessionStart', moment: 'session-start', answer: 'context' },
  { name: 'UserPromptSubmit', moment: 'prompt', answer: 'context' },
  { name: 'PreToolUse', moment: 'before-agent', answer: 'input', matcher: agentTool },
  { name: 'SubagentStop', moment: 'agent-stop', answer: 'again' },
  { name: 'Stop', moment: 'stop', answer: 'again' },
];
/** Limits of a client that takes long answers. */
const WIDE = { contextTokens: 8000, maxContext: 40_000 };
const NARROW = { contextTokens: 2000, maxContext: 9000 };
/** Most characters of an answer that is not context; a longer one is not given. */
export const MAX_ANSWER = 49_000;

export const HOOK_CLIENTS = {
  claude: {
    title: 'Claude Code',
    events: eventsOf('Agent|Task'),
    fields: FIELDS,
    keepsCalls: 'claude',
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
  },
  codex: {
    title: 'Codex CLI',
    events: eventsOf('spawn_agent'),
    fields: { ...FIELDS, turn: 'turn_id' },
    keepsCalls: 'codex',
    agentTools: { spawn_agent: { prompt: 'message', agentName: 'agent_type' } },
    readers: ['explorer'],
    // It keeps about 2500 tokens of a context; more goes into a file.
    ...NARROW,
    write: {
      context: additionalContext,
      // It takes another input only from a hook that allows the call.
      input: (value, event) => specific(event, { permissionDecision: 'allow', updatedInput: value }),
      again: block,
    },
  },
  gemini: {
    title: 'Gemini CLI',
    events: [
      { name: 'SessionStart', moment: 'session-start', answer: 'context' },
      { name: 'BeforeAgent', moment: 'prompt', answer: 'context' },
      { name: 'BeforeTool', moment: 'before-agent', answer: 'input', matcher: 'invoke_agent' },
      { name: 'AfterAgent', moment: 'stop', answer: 'again' },
    ],
    fields: { ...FIELDS, message: 'prompt_response' },
    keepsCalls: 'gemini',
    agentTools: { invoke_agent: { prompt: 'prompt', agentName: 'agent_name', returns: true } },
    readers: ['codebase_investigator'],
    ...WIDE,
    write: {
      context: additionalContext,
      input: (value, event) => specific(event, { tool_input: value }),
      again: (reason) => ({ decision: 'deny', reason }),
    },
  },
  copilot: {
    title: 'Copilot CLI',
    // In these names its payloads have the fields of Claude Code; in its own ones, none that names the event.
    events: [
      ...eventsOf('Agent|Task'),
      { name: 'PostToolUse', moment: 'after-tool' },
      { name: 'PostToolUseFailure', moment: 'after-tool', failed: true },
    ],
    fields: { ...FIELDS, response: 'tool_result', parent: 'parent_agent_id' },
    writesLate: true,
    agentTools: { Agent: { prompt: 'prompt', agentName: 'agent_type' } },
    readers: ['explore', 'research', 'rubber-duck', 'code-review', 'security-review'],
    // Context with a tool is cut at 10 KB.
    ...NARROW,
    write: {
      context: (value) => ({ additionalContext: value }),
      input: (value) => ({ modifiedArgs: value }),
      again: block,
    },
  },
  cursor: {
    title: 'Cursor',
    events: [
      { name: 'sessionStart', moment: 'session-start', answer: 'context' },
      { name: 'beforeSubmitPrompt', moment: 'prompt' },
      { name: 'preToolUse', moment: 'before-agent', answer: 'input', matcher: 'Task' },
      { name: 'postToolUse', moment: 'after-tool' },
      { name: 'postToolUseFailure', moment: 'after-tool', failed: true },
      { name: 'afterAgentResponse', moment: 'message', message: 'text' },
      { name: 'subagentStop', moment: 'agent-stop', answer: 'again', message: 'summary' },
      { name: 'stop', moment: 'stop', answer: 'again' },
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
  },
  opencode: {
    title: 'opencode',
    events: [
      { name: 'session.start', moment: 'session-start', answer: 'context' },
      { name: 'chat.message', moment: 'prompt', answer: 'context' },
      { name: 'tool.execute.before', moment: 'before-agent', answer: 'input', matcher: 'task' },
      { name: 'experimental.text.complete', moment: 'text' },
      { name: 'subagent.stop', moment: 'agent-stop', answer: 'again' },
      { name: 'session.idle', moment: 'stop', answer: 'again' },
      { name: 'experimental.session.compacting', moment: 'before-compaction', answer: 'context' },
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
  },
} as const satisfies Readonly<Record<string, HookClient>>;

export type HookClientName = keyof typeof HOOK_CLIENTS;

export function hookClient(name: string): HookClient | undefined {
  return Object.hasOwn(HOOK_CLIENTS, name) ? HOOK_CLIENTS[name as HookClientName] : undefined;
}

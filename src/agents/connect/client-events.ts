/** An event of a client for which `throughline hook` is run. */
export interface ClientEvent {
  /** As the client calls it. */
  readonly name: string;
  /** Pattern of tool names; left out for all. */
  readonly matcher?: string;
}

/** By client, the events that a connected project takes. */
export const CLIENT_EVENTS = {
  claude: [
    { name: 'SessionStart' },
    { name: 'UserPromptSubmit' },
    { name: 'PreToolUse', matcher: 'Agent|Task' },
    { name: 'PostToolUse' },
    { name: 'PostToolUseFailure' },
    { name: 'SubagentStop' },
    { name: 'Stop' },
    { name: 'PreCompact' },
    { name: 'SessionEnd' },
  ],
  codex: [
    { name: 'SessionStart' },
    { name: 'UserPromptSubmit' },
    { name: 'PreToolUse', matcher: 'spawn_agent' },
    { name: 'PostToolUse' },
    { name: 'SubagentStop' },
    { name: 'Stop' },
    { name: 'PreCompact' },
    { name: 'SessionEnd' },
  ],
  gemini: [
    { name: 'SessionStart' },
    { name: 'BeforeAgent' },
    { name: 'BeforeTool', matcher: 'invoke_agent' },
    { name: 'AfterTool' },
    { name: 'AfterAgent' },
    { name: 'PreCompress' },
    { name: 'SessionEnd' },
  ],
  cursor: [
    { name: 'sessionStart' },
    { name: 'beforeSubmitPrompt' },
    { name: 'preToolUse', matcher: 'Task' },
    { name: 'postToolUse' },
    { name: 'postToolUseFailure' },
    { name: 'afterAgentResponse' },
    { name: 'subagentStop' },
    { name: 'stop' },
    { name: 'preCompact' },
    { name: 'sessionEnd' },
  ],
  // Its events come through the plugin, which names them itself.
  opencode: [],
} as const satisfies Readonly<Record<string, readonly ClientEvent[]>>;

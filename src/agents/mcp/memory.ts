import type { ThroughlineClient } from '../../client/throughline-client.js';
import type { AgentSession } from '../agent-session.js';
import type { McpInput, McpOutput, McpToolName } from './mcp-tools.js';

/** What the tools of an agent work on. */
export interface Memory extends Pick<AgentSession, 'session' | 'project' | 'plan'> {
  /** The client: connected at the first call, and again after a failure. */
  readonly client: () => Promise<ThroughlineClient>;
}

/** What a tool answers: a text that a model can read alone, and the same as data. */
export interface McpAnswer<Name extends McpToolName> {
  readonly text: string;
  readonly data: McpOutput<Name>;
}

/** A tool at work. Throws a ThroughlineError for what cannot be done. */
export type McpTool<Name extends McpToolName> = (
  memory: Memory,
  input: McpInput<Name>,
) => Promise<McpAnswer<Name>>;

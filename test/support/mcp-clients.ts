import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { BIN, cleanEnv } from './cli.js';

/** The official client SDKs, connected to `throughline mcp`. */

export const MCP_WAYS = [
  { sdk: '1.x', protocol: '2025-11-25' },
  { sdk: '2.x', protocol: '2025-11-25' },
  { sdk: '2.x', protocol: '2026-07-28' },
] as const;
export type McpWay = (typeof MCP_WAYS)[number];

export interface McpClient extends AsyncDisposable {
  readonly protocol: string | undefined;
  readonly client: Client | FirstClient;
  /** What a tool answers. */
  call(name: string, args: Record<string, unknown>): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly isError: boolean;
}

export interface McpOf {
  /** Default: that of the folder. */
  readonly session?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const INFO = { name: 'throughline test', version: '1' };

export async function connectMcp(
  { sdk, protocol }: McpWay,
  { session, env, cwd = process.cwd() }: McpOf,
): Promise<McpClient> {
  const negotiation = protocol === '2026-07-28' ? ({ mode: { pin: protocol } } as const) : undefined;
  const client =
    sdk === '1.x'
      ? new FirstClient(INFO)
      : new Client(INFO, negotiation === undefined ? {} : { versionNegotiation: negotiation });
  const args = [BIN, 'mcp', ...(session === undefined ? [] : ['--session', session])];
  const command = { command: process.execPath, args, env: cleanEnv(env), cwd };
  if (client instanceof FirstClient) await client.connect(new FirstStdio(command));
  else await client.connect(new StdioClientTransport(command));
  return {
    protocol: client instanceof FirstClient ? undefined : client.getNegotiatedProtocolVersion(),
    client,
    call: (name, args) => called(client, name, args),
    async [Symbol.asyncDispose]() {
      await client.close();
    },
  };
}

async function called(
  client: Client | FirstClient,
  name: string,
  args: Record<string, unknown>,
): Promise<ToolAnswer> {
  const request = { name, arguments: args };
  const { content, structuredContent, isError } =
    client instanceof FirstClient ? await client.callTool(request) : await client.callTool(request);
  const [first] = content as { text?: string }[];
  return {
    text: first?.text ?? '',
    data: structuredContent as ToolAnswer['data'],
    isError: isError === true,
  };
}

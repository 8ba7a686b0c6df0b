import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as FirstHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { BIN, cleanEnv, type RunningProcess, startCli } from './cli.js';

/** The official client SDKs, connected to `throughline mcp` in each way. */

export const MCP_WAYS = [
  { sdk: '1.x', protocol: '2025-11-25', transport: 'stdio' },
  { sdk: '1.x', protocol: '2025-11-25', transport: 'HTTP' },
  { sdk: '2.x', protocol: '2025-11-25', transport: 'stdio' },
  { sdk: '2.x', protocol: '2025-11-25', transport: 'HTTP' },
  { sdk: '2.x', protocol: '2026-07-28', transport: 'stdio' },
  { sdk: '2.x', protocol: '2026-07-28', transport: 'HTTP' },
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

const TOKEN_FILE = fileURLToPath(new URL('../fixtures/mcp-token', import.meta.url));
const TOKEN = 'a-token-for-tests';
const INFO = { name: 'throughline test', version: '1' };

export async function connectMcp(way: McpWay, of: McpOf): Promise<McpClient> {
  const { sdk, protocol, transport } = way;
  const negotiation = protocol === '2026-07-28' ? ({ mode: { pin: protocol } } as const) : undefined;
  const client =
    sdk === '1.x'
      ? new FirstClient(INFO)
      : new Client(INFO, negotiation === undefined ? {} : { versionNegotiation: negotiation });
  const server = transport === 'HTTP' ? await startMcpHttp(of) : undefined;
  try {
    if (server !== undefined) {
      const options = { requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } } };
      const url = mcpUrl(server);
      if (client instanceof FirstClient) await client.connect(new FirstHttp(url, options) as never);
      else await client.connect(new StreamableHTTPClientTransport(url, options));
    } else {
      const { session, env, cwd = process.cwd() } = of;
      const command = {
        command: process.execPath,
        args: [BIN, ...mcpArguments(session)],
        env: cleanEnv(env),
        cwd,
      };
      if (client instanceof FirstClient) await client.connect(new FirstStdio(command));
      else await client.connect(new StdioClientTransport(command));
    }
  } catch (error) {
    await server?.stop();
    throw error;
  }
  return {
    protocol: client instanceof FirstClient ? undefined : client.getNegotiatedProtocolVersion(),
    client,
    call: (name, args) => called(client, name, args),
    async [Symbol.asyncDispose]() {
      await client.close();
      await server?.stop();
    },
  };
}

/** `throughline mcp --http`, on any free port. */
export function startMcpHttp({ session, env, cwd }: McpOf): Promise<RunningProcess> {
  return startCli([...mcpArguments(session), '--http', '0', '--token-file', TOKEN_FILE], env, cwd);
}

function mcpArguments(session: string | undefined): string[] {
  return ['mcp', ...(session === undefined ? [] : ['--session', session])];
}

export function mcpUrl({ readyLine }: RunningProcess): URL {
  return new URL(/http:\S+/.exec(readyLine)?.[0] ?? '');
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

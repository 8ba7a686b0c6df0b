import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer } from './mcp-server.js';
import type { Memory } from './memory.js';

/** The server on standard input and output; `failed` is told of what cannot be read. */
export function serveMcpInput(memory: Memory, failed: (error: Error) => void): { close(): Promise<void> } {
  return serveStdio(() => createMcpServer(memory), { onerror: failed });
}

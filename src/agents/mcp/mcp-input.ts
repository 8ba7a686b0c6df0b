import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { BoundedLines, MAX_LINE } from './bounded-lines.js';
import { createMcpServer } from './mcp-server.js';
import type { Memory } from './memory.js';

/** The server on standard input and output; `failed` is told of what cannot be read. */
export function serveMcpInput(memory: Memory, failed: (error: Error) => void): { close(): Promise<void> } {
  const lines = new BoundedLines(({ bytes, id }) => {
    const message = `a message of ${bytes} bytes is larger than the limit of ${MAX_LINE}: shorten it, and name files in place of their content`;
    failed(new Error(message));
    const error = { code: ProtocolErrorCode.InvalidRequest, message };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
  });
  const transport = new StdioServerTransport(process.stdin.pipe(lines), process.stdout);
  return serveStdio(() => createMcpServer(memory), { transport, onerror: failed });
}

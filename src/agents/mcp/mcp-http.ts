import { createHash, timingSafeEqual } from 'node:crypto';
import { createAdaptorServer } from '@hono/node-server';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import { createMcpServer } from './mcp-server.js';
import type { Memory } from './mcp-tools.js';

/*
 * The server over streamable HTTP, for programs on this machine: it listens only on loopback, accepts only requests of local
 * pages, and requires a bearer token.
 */

const HOST = '127.0.0.1';
const MCP_PATH = '/mcp';

/**
 * @param port 0 for any free port
 * @throws ThroughlineError `config_invalid` when nothing can listen on that port
 */
export async function serveMcpHttp(memory: Memory, port: number, token: string) {
  const handler = createMcpHandler(() => createMcpServer(memory));
  const answer = async (request: Request): Promise<Response> =>
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins()) ??
    unauthorized(request, token) ??
    (new URL(request.url).pathname === MCP_PATH
      ? handler.fetch(request)
      : new Response(`not found: use ${MCP_PATH}\n`, { status: 404 }));
  const server = createAdaptorServer({ fetch: answer, overrideGlobalObjects: false });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const why = systemCode(cause) ?? messageOf(cause);
      reject(
        new ThroughlineError(
          'config_invalid',
          `--http ${port}: cannot listen there (${why}): give another port`,
          { cause },
        ),
      );
    });
    server.listen(port, HOST, resolve);
  });
  const address = server.address();
  const open = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${HOST}:${open}${MCP_PATH}`,
    async close() {
      await handler.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function unauthorized(request: Request, token: string): Response | undefined {
  const [scheme = '', given = ''] = (request.headers.get('authorization') ?? '').split(' ');
  // The comparison needs values of equal length, which hashes are.
  const isKnown = timingSafeEqual(sha256(given), sha256(token));
  if (isKnown && /^bearer$/i.test(scheme)) return undefined;
  return new Response('send the header "Authorization: Bearer TOKEN" with the token of this server\n', {
    status: 401,
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 4;
const ANSWER_WITHIN_MS = 500;

/** What a server says about itself in the first line of every connection, its INFO, as far as we use it. */
export interface ServerInfo {
  readonly server_name: string;
  readonly version: string;
  readonly jetstream: boolean;
  readonly auth_required: boolean;
  readonly tls_required: boolean;
  readonly tls_verify: boolean;
}

/**
 * Asks whatever listens on `host:port` for its INFO, and for a PONG unless it wants credentials first.
 * Answers undefined when nothing listens, when it is not a NATS server, or when it stays silent for `timeoutMs`.
 */
export function askServer(host: string, port: number, timeoutMs: number): Promise<ServerInfo | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    let received = '';
    let info: ServerInfo | undefined;
    const finish = (answer: ServerInfo | undefined) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => finish(undefined));
    socket.once('error', () => finish(undefined));
    socket.once('close', () => finish(undefined));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      received += chunk;
      if (info === undefined && received.includes('\r\n')) {
        info = parseInfo(received);
        if (info === undefined || info.auth_required || info.tls_required) finish(info);
        else socket.write('CONNECT {"verbose":false}\r\nPING\r\n');
      } else if (received.includes('\r\nPONG\r\n')) finish(info);
    });
  });
}

function parseInfo(received: string): ServerInfo | undefined {
  const match = /^INFO (\{.*\}) *\r\n/.exec(received);
  if (match?.[1] === undefined) return undefined;
  let info: Partial<Readonly<Record<keyof ServerInfo, unknown>>>;
  try {
    info = JSON.parse(match[1]);
  } catch {
    return undefined;
  }
  const { server_name, version } = info;
  if (typeof server_name !== 'string' || typeof version !== 'string') return undefined;
  return {
    server_name,
    version,
    jetstream: info.jetstream === true,
    auth_required: info.auth_required === true,
    tls_required: info.tls_required === true,
    tls_verify: info.tls_verify === true,
  };
}

/** What to wait for. */
export interface Awaited {
  readonly host: string;
  readonly port: number;
  /** Only a server of this name counts: another one that took the port is never mistaken for it. */
  readonly serverName: string;
  readonly withinMs: number;
  /** Whether the server's process has ended, so that waiting is useless. Default: it has not. */
  readonly hasEnded?: (() => boolean) | undefined;
}

/** Polls every few milliseconds until the server answers and its JetStream is up. */
export async function untilReady(server: Awaited): Promise<'ready' | 'ended' | 'silent'> {
  const { host, port, serverName, withinMs, hasEnded = () => false } = server;
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    if (hasEnded()) return 'ended';
    const info = await askServer(host, port, ANSWER_WITHIN_MS);
    if (info?.server_name === serverName && info.jetstream && !hasEnded()) return 'ready';
    await sleep(POLL_MS);
  }
  return 'silent';
}

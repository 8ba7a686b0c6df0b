import { closeSync, fstatSync, readSync } from 'node:fs';
import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openToAppend } from '../../engine/files/user-state.js';

const POLL_MS = 4;
const ANSWER_WITHIN_MS = 500;

/** The used fields of a server's INFO, the first line of every connection. */
interface ServerInfo {
  readonly server_name: string;
  readonly version: string;
  readonly jetstream: boolean;
  readonly auth_required: boolean;
  readonly tls_required: boolean;
  readonly tls_verify: boolean;
}

/**
 * Reads the INFO of whatever listens on `host:port`, and waits for a PONG unless credentials are required. Resolves to undefined
 * if nothing listens, it is not a NATS server, or it is silent for `timeoutMs`.
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

export interface Awaited {
  readonly host: string;
  readonly port: number;
  /** Distinguishes the server from another one that took the port. */
  readonly serverName: string;
  readonly withinMs: number;
  /** Returns true once the server's process has ended. Default: never. */
  readonly hasEnded?: (() => boolean) | undefined;
}

/** Polls every few milliseconds until the server answers with JetStream enabled. */
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

export const CONFIG_FILE = 'nats-server.conf';

interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly monitorPort: number | undefined;
  readonly serverName: string;
  readonly storeDir: string;
  readonly maxPayloadBytes: number | undefined;
  readonly extraConfig: string | undefined;
}

/** Renders the configuration file. `extraConfig` comes last, unchanged. */
export function renderServerConfig(config: ServerConfig): string {
  const lines = [
    `server_name: ${quote(config.serverName)}`,
    `host: ${quote(config.host)}`,
    `port: ${config.port}`,
    ...(config.monitorPort === undefined ? [] : [`http: ${quote(`${config.host}:${config.monitorPort}`)}`]),
    ...(config.maxPayloadBytes === undefined ? [] : [`max_payload: ${config.maxPayloadBytes}`]),
    `jetstream { store_dir: ${quote(config.storeDir)} }`,
    ...(config.extraConfig === undefined ? [] : [config.extraConfig]),
  ];
  return `${lines.join('\n')}\n`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

const TAIL_LINES = 12;
const TAIL_BYTES = 16 * 1024;

/** The log of one server, appended to across restarts. */
export interface LogFile {
  readonly path: string;
  /** For the `stdio` of a child process. */
  readonly fd: number;
  /** Returns the last lines of this run. */
  tail(): string;
  close(): void;
}

/** Opens a log file for appending. Throws the file system's error. */
export function openLogFile(path: string): LogFile {
  const fd = openToAppend(path);
  const { size: start } = fstatSync(fd);
  return {
    path,
    fd,
    tail() {
      // The first descriptor is closed once the server has ended.
      const reader = openToAppend(path);
      try {
        return lastLines(reader, start);
      } finally {
        closeSync(reader);
      }
    },
    close: () => closeSync(fd),
  };
}

function lastLines(fd: number, start: number): string {
  const { size } = fstatSync(fd);
  const from = Math.max(start, size - TAIL_BYTES);
  const bytes = Buffer.alloc(Math.max(0, size - from));
  const length = readSync(fd, bytes, 0, bytes.length, from);
  const lines = bytes.toString('utf8', 0, length).trimEnd().split('\n');
  return lines.slice(-TAIL_LINES).join('\n');
}

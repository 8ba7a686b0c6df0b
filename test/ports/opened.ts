import { afterAll, beforeAll } from 'vitest';
import { type Token, token } from '../../src/contracts/names.js';
import type { WantedLayout } from '../../src/nats/jetstream/installed-layout.js';
import { type NatsOptions, type NatsPorts, openNats } from '../../src/nats/open-nats.js';
import { silentLogger } from '../../src/ports/logger.js';
import { startTestNats, type TestNats, type TestNatsOptions } from '../support/nats-server.js';

/** Ports on a real server, and the server. */
export interface OpenedNats extends NatsPorts {
  readonly server: TestNats;
}

/** Starts a server and opens all ports on it; `close` ends both. */
export async function startNatsPorts(
  options: TestNatsOptions = {},
  portOptions: Partial<NatsOptions> = {},
): Promise<OpenedNats> {
  const server = await startTestNats(options);
  const ports = await openPorts(server.url, portOptions);
  return {
    ...ports,
    server,
    async close() {
      await ports.close();
      await server.stop();
    },
  };
}

/** A server for the tests of a `describe`, and the ports of two processes on it; all end with the tests. */
export function twoOnNats(options: Partial<NatsOptions> = {}): {
  readonly nats: OpenedNats;
  readonly other: NatsPorts;
} {
  let nats: OpenedNats;
  let other: NatsPorts;
  beforeAll(async () => {
    nats = await startNatsPorts({}, options);
    other = await openPorts(nats.server.url);
  });
  afterAll(async () => {
    await other.close();
    await nats.close();
  });
  return {
    get nats() {
      return nats;
    },
    get other() {
      return other;
    },
  };
}

/** Ports of their own on a server, as another process would have them. */
export function openPorts(url: string, options: Partial<NatsOptions> = {}): Promise<NatsPorts> {
  return openNats({
    url,
    name: 'throughline test',
    logger: silentLogger,
    replicas: 1,
    requestTimeoutMs: 5000,
    ackWaitMs: 30_000,
    maxInHand: 1000,
    ...options,
  });
}

/** Each layout of session logs, as the settings choose it; with few shards, so that sessions do share them. */
export const LAYOUTS: readonly (readonly [name: string, wanted: WantedLayout])[] = [
  ['a stream per session', { layout: 'per-session' }],
  ['sharded', { layout: 'sharded', shards: 2 }],
];

/** A session name that no other test of the file has. */
export function newSession(name = 'session'): Token {
  sessions += 1;
  return token(`${name}-${sessions}`, 'session');
}
let sessions = 0;

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

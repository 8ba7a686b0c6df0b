import { afterAll, beforeAll } from 'vitest';
import { type Token, token } from '../../../src/contracts/names.js';
import { silentLogger } from '../../../src/engine/ports/logger.js';
import type { WantedLayout } from '../../../src/nats/jetstream/installed-layout.js';
import { type NatsOptions, type NatsPorts, openNats } from '../../../src/nats/open-nats.js';
import {
  startPrivateNats,
  startTestNats,
  type TestNats,
  type TestNatsOptions,
} from '../../support/nats-server.js';

/** Ports on a real server, and the server. */
export interface OpenedNats<Server extends TestNats = TestNats> extends NatsPorts {
  readonly server: Server;
}

/** Opens all ports on a server with nothing in it; `close` ends both. */
export async function startNatsPorts(options: Partial<NatsOptions> = {}): Promise<OpenedNats> {
  return opened(await startTestNats(), options);
}

/** The same on a server of its own. */
export async function startPrivatePorts(options: TestNatsOptions = {}) {
  return opened(await startPrivateNats(options));
}

async function opened<Server extends TestNats>(
  server: Server,
  options: Partial<NatsOptions> = {},
): Promise<OpenedNats<Server>> {
  const ports = await openPorts(server.url, options);
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
export function twoOnNats(options: Partial<NatsOptions> = {}) {
  return twoOn(() => startNatsPorts(options));
}

/** The same on a server that is started for it. */
export function twoOn<Server extends TestNats>(
  start: () => Promise<OpenedNats<Server>>,
): { readonly nats: OpenedNats<Server>; readonly other: NatsPorts } {
  let nats: OpenedNats<Server>;
  let other: NatsPorts;
  beforeAll(async () => {
    nats = await start();
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

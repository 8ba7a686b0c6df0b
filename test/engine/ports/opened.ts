import { type Token, token } from '../../../src/contracts/names.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { type NatsOptions, type NatsPorts, openNats } from '../../../src/nats/open-nats.js';
import {
  startPrivateNats,
  startTestNats,
  type TestNats,
  type TestNatsOptions,
} from '../../support/nats-server.js';
import { ofFile } from '../../support/of-file.js';

/** Ports on a real server, with the server. */
export interface OpenedNats<Server extends TestNats = TestNats> extends NatsPorts {
  readonly server: Server;
}

/** Opens all ports on an empty server; `close` ends both. */
export async function startNatsPorts(options: Partial<NatsOptions> = {}): Promise<OpenedNats> {
  return opened(await startTestNats(), options);
}

/** Opens all ports on a dedicated server. */
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

/** Opens a server and the ports of two processes on it, for the tests of the file or `describe` that waits for it. */
export async function twoOnNats(options: Partial<NatsOptions> = {}) {
  return withOther(await ofFile(startNatsPorts(options)));
}

/** Opens the ports of another process beside these. */
export async function withOther<Server extends TestNats>(nats: OpenedNats<Server>) {
  return { nats, other: await ofFile(openPorts(nats.server.url)) };
}

/** Opens separate ports on a server, like another process. */
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

export function newSession(name = 'session'): Token {
  sessions += 1;
  return token(`${name}-${sessions}`, 'session');
}
let sessions = 0;

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

import { connect as openSocket } from 'node:net';
import type { NatsConnection } from 'nats';
import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { healthEndpoint, startService } from '../../../src/nats/micro/micro-service.js';
import { openPorts, startNatsPorts } from '../../engine/ports/opened.js';
import { startPrivateNats, startTestNats } from '../../support/nats-server.js';
import { ofFile } from '../../support/of-file.js';
import { soon } from '../../support/soon.js';

/** Headers that the server forwards and the client cannot parse. */
const BAD_HEADERS = [
  ['a value of two lines', 'NATS/1.0\r\nA: one\nline\r\nB: two\r\n\r\n'],
  ['a lone carriage return', 'NATS/1.0\r\nA: \rb\r\n\r\n'],
  ['a status on another line', 'NATS/1.0 \n503\r\n\r\n'],
  ['no version', 'no headers at all\r\n\r\n'],
  ['names that are none', 'NATS/1.0\r\n\u0000:\u0000\r\n: \r\n\r\n'],
  ['a line of 4,000 characters', `NATS/1.0\r\n${'x'.repeat(4000)}\r\n\r\n`],
] as const;

/** Publishes raw headers, which the client would not send. */
async function publishRaw(url: string, subject: string, head: string, body: string): Promise<void> {
  const { hostname, port, username: user, password: pass } = new URL(url);
  const socket = openSocket(Number(port), hostname);
  const bytes = Buffer.byteLength(head);
  socket.write(`CONNECT ${JSON.stringify({ verbose: false, headers: true, user, pass })}\r\n`);
  socket.write(`HPUB ${subject} ${bytes} ${bytes + Buffer.byteLength(body)}\r\n${head}${body}\r\nPING\r\n`);
  for await (const data of socket) if (String(data).includes('PONG')) break;
  socket.destroy();
}

async function hears(connection: NatsConnection): Promise<string> {
  const reply = await connection.request('heard', 'here', { timeout: 3000 });
  return reply.string();
}

const logger = { ...silentLogger, error: vi.fn() };

const nats = await ofFile(startNatsPorts());
nats.connection.subscribe('heard', { callback: (_, message) => void message.respond(message.data) });

describe('a connection', () => {
  it('a connection goes on receiving when a message handler throws', async () => {
    const ports = await openPorts(nats.server.url, { logger });
    const dealt = vi.fn(() => {
      throw new Error('out of order');
    });
    ports.connection.subscribe('throws', { callback: dealt });
    await ports.connection.flush();
    nats.connection.publish('throws', 'x');
    nats.connection.publish('throws', 'y');
    await soon(() => expect(dealt).toHaveBeenCalledTimes(2));
    expect(await hears(ports.connection)).toBe('here');
    expect(logger.error).toHaveBeenCalledWith(
      expect.objectContaining({ subject: 'throws', code: 'internal' }),
      'a message could not be handled',
    );
    await ports.close();
  });

  it.each(BAD_HEADERS)(
    'a connection goes on receiving after an answer with unreadable headers: %j',
    async (head) => {
      const { connection } = nats;
      const asked = vi.fn();
      const subscription = connection.subscribe('asked', { callback: (_, { reply }) => asked(reply) });
      const answered = connection.request('asked', 'x', { timeout: 30_000 }).then(
        (message) => message.string(),
        (error: unknown) => String(error),
      );
      await soon(() => expect(asked).toHaveBeenCalled());
      await publishRaw(nats.server.url, String(asked.mock.calls[0]?.[0]), head, 'raw');
      expect(['raw', 'NatsError: 503']).toContain(await answered);
      expect(await hears(connection)).toBe('here');
      subscription.unsubscribe();
    },
  );

  it.each(BAD_HEADERS)(
    'a connection reads past a stored message with unreadable headers: %s',
    async (_what, head) => {
      await nats.connection.flush();
      const jsm = await nats.connection.jetstreamManager();
      await jsm.streams.add({ name: 'RAW', subjects: ['raw.>'], allow_direct: true });
      await publishRaw(nats.server.url, 'raw.x', head, '{}');
      const consumer = await nats.connection.jetstream().consumers.get('RAW');
      const message = await consumer.next({ expires: 5000 });
      expect(message?.string()).toBe('{}');
      expect(() => message?.headers?.get('B')).not.toThrow();
      expect(await hears(nats.connection)).toBe('here');
      await jsm.streams.delete('RAW');
    },
  );
});

describe('a service on a server of small messages', () => {
  const VERBS = ['PING', 'INFO', 'STATS'] as const;

  it.each([512, 1024, 4096, 8192])(
    'a service on a server of small messages is found with at most %i bytes',
    async (maxPayloadBytes) => {
      await using server = await startPrivateNats({ maxPayloadBytes });
      const ports = await openPorts(server.url);
      const endpoints = Array.from({ length: 40 }, (_, at) => ({
        name: `e${at}`,
        subject: `small.e${at}`,
        description: `does ${at}: ${'x'.repeat(60)}`,
        handle: async () => ({}),
        stats: () => ({ much: 'y'.repeat(200) }),
      }));
      const service = await startService(ports.connection, {
        name: 'small',
        version: '1.0.0',
        description: 'z'.repeat(400),
        logger: silentLogger,
        endpoints: [...endpoints, healthEndpoint('small', async () => ({ much: 'w'.repeat(20_000) }))],
      });
      const rejected = vi.fn();
      process.on('unhandledRejection', rejected);
      const found = (await ports.connection.request('$SRV.PING')).json<{ id: string }>();
      for (const verb of VERBS) {
        for (const subject of [`$SRV.${verb}`, `$SRV.${verb}.small`, `$SRV.${verb}.small.${found.id}`]) {
          const reply = await ports.connection.request(subject, '', { timeout: 5000 });
          expect(reply.json(), subject).toMatchObject({ name: 'small', id: found.id });
          expect(reply.data.length, subject).toBeLessThanOrEqual(maxPayloadBytes);
        }
      }
      const health = await ports.connection.request('health.small', '', { timeout: 5000 });
      expect(health.json()).toMatchObject({
        error: { code: expect.stringMatching(/too_large|json_parse_failed/) },
      });
      expect(rejected).not.toHaveBeenCalled();
      process.off('unhandledRejection', rejected);
      await service.stop();
      await ports.close();
    },
  );

  it('a service on a server of small messages shows all of itself where that fits', async () => {
    await using server = await startTestNats();
    const ports = await openPorts(server.url);
    const service = await startService(ports.connection, {
      name: 'whole',
      version: '1.0.0',
      description: 'all of it',
      logger: silentLogger,
      endpoints: [healthEndpoint('whole', async () => ({ well: true }))],
    });
    const info = (await ports.connection.request('$SRV.INFO.whole')).json();
    const metadata = { description: 'health of this instance' };
    expect(info).toMatchObject({ description: 'all of it', endpoints: [{ name: 'health', metadata }] });
    const stats = (await ports.connection.request('$SRV.STATS.whole')).json();
    expect(stats).toMatchObject({ endpoints: [{ name: 'health', data: { well: true } }] });
    await service.stop();
    await ports.close();
  });
});

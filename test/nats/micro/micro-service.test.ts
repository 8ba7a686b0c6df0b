import { describe, expect, it, vi } from 'vitest';
import { type ErrorCode, isErrorCode } from '../../../src/contracts/error-codes.js';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { REPLY_VERSION, REPLY_VERSION_HEADER } from '../../../src/contracts/names.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { instancesOf } from '../../../src/nats/doctor/service-findings.js';
import { REPLY_HEAD, startService } from '../../../src/nats/micro/micro-service.js';
import { startPrivatePorts } from '../../engine/ports/opened.js';
import { ofFile } from '../../support/of-file.js';
import { soon } from '../../support/soon.js';

const MAX_PAYLOAD = 64 * 1024;
const logger = { ...silentLogger, error: vi.fn(), warn: vi.fn() };

const held = { release: () => {}, taken: vi.fn() };

const HANDLERS: Record<string, (request: unknown) => Promise<unknown>> = {
  echo: async (request) => request,
  'throws-late': async () => {
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('out of order');
  },
  'throws-at-once': () => {
    throw new Error('out of order');
  },
  'throws-no-error': () => Promise.reject('just text'),
  'throws-ours': () =>
    Promise.reject(
      new ThroughlineError('not_caught_up', 'stands at 3', { details: { sequence: 3, after: 9 } }),
    ),
  'throws-code': async (code) => {
    throw new ThroughlineError(isErrorCode(code) ? code : 'internal', 'no');
  },
  'throws-lines': () => Promise.reject(new ThroughlineError('not_found', 'no\r\nsuch: thing\u0000')),
  'throws-much': () => Promise.reject(new ThroughlineError('conflict', 'x'.repeat(MAX_PAYLOAD * 2))),
  'throws-large-details': () =>
    Promise.reject(new ThroughlineError('conflict', 'no', { details: { all: 'x'.repeat(MAX_PAYLOAD) } })),
  'throws-details-without-json': () =>
    Promise.reject(new ThroughlineError('conflict', 'no', { details: { count: 1n } })),
  'gives-nothing': async () => undefined,
  'gives-just-enough': async () => 'x'.repeat(MAX_PAYLOAD - REPLY_HEAD - 2),
  'gives-too-much': async () => 'x'.repeat(MAX_PAYLOAD - REPLY_HEAD - 1),
  'gives-too-much-in-bytes': async () => '€'.repeat(MAX_PAYLOAD / 2),
};

const nats = await ofFile(startPrivatePorts({ maxPayloadBytes: MAX_PAYLOAD }));
await ofFile(
  startService(nats.connection, {
    name: 'test-service',
    version: '1.2.3',
    description: 'for tests',
    logger,
    endpoints: Object.entries(HANDLERS).map(([name, handle]) => ({
      name,
      subject: `test.${name}`,
      description: `does ${name}`,
      handle,
      lower: 'its filters',
    })),
  }),
);

async function ask(name: string, payload: string | Uint8Array = '{}') {
  const message = await nats.connection.request(`test.${name}`, payload, { timeout: 3000 });
  const status = message.headers?.get('Nats-Service-Error-Code') || undefined;
  const description = message.headers?.get('Nats-Service-Error') || undefined;
  return { status, description, body: message.json<unknown>() };
}

describe('startService', () => {
  it('a service answers JSON with JSON', async () => {
    const body = { a: [1, 'é😀', null] };
    expect(await ask('echo', JSON.stringify(body))).toEqual({ body });
  });

  it('a reply carries the version of the replies', async () => {
    const { headers } = await nats.connection.request('test.echo', '{}', { timeout: 3000 });
    expect(headers?.get(REPLY_VERSION_HEADER)).toBe(REPLY_VERSION);
  });

  it('a service is found by name, with what its endpoints do', async () => {
    const found = [];
    for await (const info of await nats.connection.services.client().info('test-service')) found.push(info);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ version: '1.2.3', description: 'for tests' });
    expect(found[0]?.endpoints).toContainEqual(
      expect.objectContaining({ subject: 'test.echo', metadata: { description: 'does echo' } }),
    );
  });

  it.each([
    ['throws-late', '500', 'internal', 'out of order'],
    ['throws-at-once', '500', 'internal', 'out of order'],
    ['throws-no-error', '500', 'internal', 'just text'],
    ['gives-nothing', '500', 'internal', ''],
    ['throws-ours', '409', 'not_caught_up', 'stands at 3'],
    ['gives-too-much', '413', 'too_large', `${MAX_PAYLOAD}`],
    ['gives-too-much-in-bytes', '413', 'too_large', `${MAX_PAYLOAD}`],
  ])(
    'a service answers with error headers and a stable code when a handler %s',
    async (name, status, code, text) => {
      const reply = await ask(name);
      expect(reply).toMatchObject({
        status,
        description: expect.stringMatching(`^${code}: `),
        body: { error: { code, message: expect.stringContaining(text) } },
      });
    },
  );

  it.each<[string, ...ErrorCode[]]>([
    ['404', 'not_found', 'progress_ledger_missing_tasks'],
    ['409', 'duplicate', 'near_duplicate', 'already_decided', 'cycle'],
    ['409', 'open_tasks', 'open_fixes', 'ambiguous'],
    ['429', 'rate_limited'],
    ['503', 'unavailable'],
    ['507', 'store_full'],
  ])('an error status says, as in HTTP, whose fault it is: %s', async (status, ...codes) => {
    for (const code of codes) {
      const description = `${code}: no`;
      expect(await ask('throws-code', JSON.stringify(code))).toMatchObject({ status, description });
    }
  });

  it('a service passes on the details of an error, and none where there are none', async () => {
    expect((await ask('throws-ours')).body).toEqual({
      error: { code: 'not_caught_up', message: 'stands at 3', details: { sequence: 3, after: 9 } },
    });
    expect((await ask('throws-late')).body).toEqual({
      error: { code: 'internal', message: expect.stringContaining('out of order') },
    });
  });

  it('a service puts an error with line breaks in one header, and whole in the body', async () => {
    expect(await ask('throws-lines')).toEqual({
      status: '404',
      description: 'not_found: no such: thing',
      body: { error: { code: 'not_found', message: 'no\r\nsuch: thing\u0000' } },
    });
  });

  it.each(['throws-much', 'throws-large-details', 'throws-details-without-json'])(
    'a service still answers when the error itself cannot be sent: %s',
    async (name) => {
      const reply = await ask(name);
      expect(reply).toMatchObject({ status: '409', body: { error: { code: 'conflict' } } });
      expect(JSON.stringify(reply).length).toBeLessThan(5000);
    },
  );

  it('a service names what a caller can ask less of when a reply is too large', async () => {
    expect((await ask('gives-too-much')).body).toEqual({
      error: {
        code: 'too_large',
        message: `the reply has ${MAX_PAYLOAD + 1} bytes, the limit is ${MAX_PAYLOAD}: ask for less by its filters, or raise max_payload of the server`,
        details: { bytes: MAX_PAYLOAD + 1, limit: MAX_PAYLOAD },
      },
    });
  });

  it('a service sends a reply of exactly the largest size', async () => {
    expect((await ask('gives-just-enough')).body).toHaveLength(MAX_PAYLOAD - REPLY_HEAD - 2);
  });

  it.each([
    ['nothing', ''],
    ['half an object', '{"session":'],
    ['text', 'hello'],
    ['no UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
  ])('a service answers a body of %s with json_parse_failed', async (_, payload) => {
    const reply = await ask('echo', payload);
    expect(reply).toMatchObject({ status: '400', body: { error: { code: 'json_parse_failed' } } });
  });

  it('a service logs a fault of its own, and no mistake of a caller', async () => {
    logger.error.mockClear();
    await ask('echo', 'no JSON');
    await ask('throws-ours');
    expect(logger.error).not.toHaveBeenCalled();
    await ask('throws-late');
    expect(logger.error).toHaveBeenCalledTimes(1);
  });

  it('a service shows error replies in its statistics, by endpoint and code', async () => {
    const handle = async (request: unknown) => {
      if (request === 'bad') throw new ThroughlineError('not_found', 'no secret thing');
      return request;
    };
    const counted = await startService(nats.connection, {
      name: 'counted',
      version: '1.0.0',
      description: 'for tests',
      logger,
      endpoints: ['one', 'two'].map((name) => ({
        name,
        subject: `counted.${name}`,
        description: 'may fail',
        bySession: name === 'one',
        handle,
      })),
    });
    const asked = { one: ['"bad"', '"good"', 'no JSON', '"bad"'], two: ['"good"'], 'one.demo': ['"bad"'] };
    for (const [name, requests] of Object.entries(asked)) {
      for (const request of requests) {
        await nats.connection.request(`counted.${name}`, request, { timeout: 3000 });
      }
    }
    const [stats] = await instancesOf(nats.connection, 'counted', 5000);
    expect(stats?.endpoints).toEqual([
      expect.objectContaining({ name: 'one', num_requests: 4, num_errors: 3, last_error: 'not_found' }),
      expect.objectContaining({
        name: 'one-session',
        num_requests: 1,
        num_errors: 1,
        last_error: 'permission_denied',
      }),
      expect.objectContaining({ name: 'two', num_requests: 1, num_errors: 0 }),
    ]);
    expect(stats?.endpoints?.[2]).not.toHaveProperty('last_error');
    await counted.stop();
  });

  it('a stopped service answers requests in progress, and nothing after that', async () => {
    const stopping = await startService(nats.connection, {
      name: 'stopping',
      version: '1.0.0',
      description: 'for tests',
      logger,
      endpoints: [
        {
          name: 'hold',
          subject: 'stopping.hold',
          description: 'waits',
          handle: async (request) => {
            held.taken();
            await new Promise<void>((resolve) => {
              held.release = resolve;
            });
            return { answered: request };
          },
        },
      ],
    });
    const asked = nats.connection.request('stopping.hold', '"hi"', { timeout: 5000 });
    await soon(() => expect(held.taken).toHaveBeenCalled());
    let stopped = false;
    const stop = stopping.stop().then(() => {
      stopped = true;
    });
    await nats.connection.flush();
    expect(stopped).toBe(false);
    held.release();
    await stop;
    expect((await asked).json()).toEqual({ answered: 'hi' });
    const late = nats.connection.request('stopping.hold', '"hi"', { timeout: 5000 });
    await expect(late).rejects.toMatchObject({ code: '503' });
  });
});

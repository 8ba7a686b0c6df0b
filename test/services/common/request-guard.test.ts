import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import type { SecretScanner } from '../../../src/memory/redaction/redactor.js';
import { guarded } from '../../../src/services/common/service-shell.js';

const secrets: SecretScanner = {
  mayHold: (text) => text.includes('key-'),
  find: (text) =>
    [...text.matchAll(/key-\d/g)].map(({ index }) => ({ rule: 'key', start: index, end: index + 5 })),
};

function guardedEcho(more: { secrets?: SecretScanner } = {}) {
  const logger = { ...silentLogger, info: vi.fn() };
  const handle = vi.fn(async (request: unknown) => request);
  const [first, second] = guarded({ requestsInProgress: 2, logger, ...more }, [
    { name: 'first', subject: 'tool.first', description: '', handle },
    { name: 'second', subject: 'tool.second', description: '', handle, stats: () => 'its own' },
  ]);
  if (first === undefined || second === undefined) throw new Error('unreachable');
  return { first, second, handle, logger };
}

describe('a guarded handler', () => {
  it('a guarded handler gets requests without their secrets, which are counted and logged by rule', async () => {
    const { first, second, logger } = guardedEcho({ secrets });
    expect(first.stats?.()).toBeNull();
    const request = { session: 'demo', content: 'key-1 and key-2', id: 'key-3' };
    expect(await first.handle(request)).toEqual({
      session: 'demo',
      content: '<redacted:key> and <redacted:key>',
      id: 'key-3',
    });
    expect(first.stats?.()).toEqual({ redacted: { key: 2 } });
    expect(second.stats?.()).toBe('its own');
    expect(logger.info).toHaveBeenCalledExactlyOnceWith(
      { endpoint: 'first', session: 'demo', redacted: { key: 2 } },
      'secrets taken out of a request',
    );
  });

  it('a guarded handler gets no more requests of a session than may be in progress, over all handlers', async () => {
    const { first, second, handle } = guardedEcho();
    const ends: (() => void)[] = [];
    handle.mockImplementation((request) => new Promise((resolve) => ends.push(() => resolve(request))));
    const asked = [first.handle({ session: 'demo' }), second.handle({ session: 'demo' })];
    await expect(first.handle({ session: 'demo' })).rejects.toMatchObject({
      code: 'rate_limited',
      message: 'session demo has 2 requests in progress: try again in 1000 ms',
      details: { retryAfterMs: 1000, most: 2 },
    });
    asked.push(first.handle({ session: 'other' }), first.handle({ project: 'demo' }));
    expect(handle).toHaveBeenCalledTimes(4);
    for (const end of ends) end();
    await Promise.all(asked);
    handle.mockImplementation(async (request) => request);
    expect(await first.handle({ session: 'demo' })).toEqual({ session: 'demo' });
  });

  it('a guarded handler that fails gives its place back', async () => {
    const { first, handle } = guardedEcho();
    handle.mockRejectedValue(new Error('not now'));
    for (let each = 0; each < 3; each += 1)
      await expect(first.handle({ session: 'demo' })).rejects.toThrow('not now');
  });

  it('a guarded handler counts all requests that name no session together', async () => {
    const { first, handle } = guardedEcho();
    handle.mockReturnValue(new Promise(() => {}));
    for (const request of [null, { session: 'a.b' }]) void first.handle(request);
    for (const request of [
      undefined,
      7,
      [],
      {},
      { session: 7 },
      { session: '' },
      { session: 'x'.repeat(65) },
    ])
      await expect(first.handle(request)).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

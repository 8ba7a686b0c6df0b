import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/engine/ports/clients.js';
import type { SecretScanner } from '../../../src/memory/redaction/redactor.js';
import { guarded } from '../../../src/services/common/request-guard.js';

const secrets: SecretScanner = {
  mayHold: (text) => text.includes('key-'),
  find: (text) =>
    [...text.matchAll(/key-\d/g)].map(({ index }) => ({ rule: 'key', start: index, end: index + 5 })),
};

function guardedEcho(more: { requestsPerSecond?: number; secrets?: SecretScanner } = {}) {
  const logger = { ...silentLogger, info: vi.fn() };
  const handle = vi.fn(async (request: unknown, _caller: string) => request);
  const [first, second] = guarded({ requestsPerSecond: 1, now: () => 0, logger, ...more }, [
    { name: 'first', handle },
    { name: 'second', handle, stats: () => 'its own' },
  ]);
  if (first === undefined || second === undefined) throw new Error('unreachable');
  return { first, second, handle, logger };
}

describe('a guarded handler', () => {
  it('a guarded handler gets requests without their secrets, which are counted and logged by rule', async () => {
    const { first, second, logger } = guardedEcho({ secrets });
    expect(first.stats?.()).toBeNull();
    const request = { session: 'demo', content: 'key-1 and key-2', id: 'key-3' };
    expect(await first.handle(request, '_INBOX.a')).toEqual({
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

  it('a guarded handler gets the very request without a scanner', async () => {
    const { first } = guardedEcho();
    const request = { content: 'key-1' };
    expect(await first.handle(request, '_INBOX.a')).toBe(request);
  });

  it('a guarded handler is not asked by a session beyond its rate, which counts for all handlers together', async () => {
    const { first, second, handle } = guardedEcho();
    await first.handle({ session: 'demo' }, '_INBOX.a');
    await second.handle({ session: 'demo' }, '_INBOX.a');
    await expect(first.handle({ session: 'demo' }, '_INBOX.a')).rejects.toMatchObject({
      code: 'rate_limited',
    });
    await expect(second.handle({ session: 'demo' }, '_INBOX.a')).rejects.toMatchObject({
      code: 'rate_limited',
    });
    await first.handle({ session: 'other' }, '_INBOX.a');
    expect(handle).toHaveBeenCalledTimes(3);
  });

  it('a guarded handler counts all requests of a caller without a session together, and lets others ask', async () => {
    const { first } = guardedEcho();
    await first.handle(null, '_INBOX.a');
    await first.handle({ session: 'a.b' }, '_INBOX.a');
    for (const request of [
      undefined,
      7,
      [],
      {},
      { session: 7 },
      { session: '' },
      { session: 'x'.repeat(65) },
    ]) {
      await expect(first.handle(request, '_INBOX.a')).rejects.toMatchObject({ code: 'rate_limited' });
    }
    expect(await first.handle({}, '_INBOX.b')).toEqual({});
  });
});

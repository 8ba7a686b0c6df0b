import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { type Finding, ok } from '../../../src/nats/doctor/finding.js';
import { createHealthQuery, type InstallationParts } from '../../../src/services/tools/health-query.js';

const NEVER = new Promise<never>(() => {});
const PARTS: InstallationParts = {
  services: async () => [],
  results: async () => ({ stored: 7, waiting: 1, rejected: 2 }),
};

function healthWith(
  parts: Partial<InstallationParts> = {},
  quickCheck: () => Promise<readonly Finding[]> = async () => [ok('server', 'is there')],
) {
  const clock = () => new Date(performance.now()).toISOString();
  return createHealthQuery({ parts: { ...PARTS, ...parts }, quickCheck, clock, partMs: 1500 });
}

describe('health-show', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('health-show puts all parts together', async () => {
    expect(await healthWith()({})).toEqual({
      at: expect.any(String),
      services: [],
      results: { stored: 7, waiting: 1, rejected: 2 },
      findings: [{ check: 'server', level: 'ok', message: 'is there' }],
      findingsAt: expect.any(String),
      missing: [],
    });
  });

  it('health-show answers within two seconds whatever does not, and says what is missing and why', async () => {
    const refused = async () => Promise.reject(new ThroughlineError('permission_denied', 'may not ask'));
    const asked = healthWith({ services: () => NEVER, results: refused }, () => NEVER)({});
    await vi.advanceTimersByTimeAsync(1999);
    const health = await Promise.race([asked, Promise.resolve('not there')]);
    expect(health).toMatchObject({ services: [] });
    expect(health).not.toHaveProperty('results');
    const late = expect.stringMatching(/timed out after 1500 ms: ask again/);
    expect(health).toMatchObject({
      missing: expect.arrayContaining([
        { part: 'results', code: 'permission_denied', message: 'may not ask' },
        { part: 'services', code: 'unavailable', message: late },
        { part: 'findings', code: 'unavailable', message: late },
      ]),
    });
  });

  it('health-show lets the doctor look once in half a minute, and tells what it found before while it looks', async () => {
    let looks = 0;
    let isSlow = false;
    const ask = healthWith({}, async () => {
      looks += 1;
      const message = `look ${looks}`;
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 10_000));
      return [ok('server', message)];
    });
    const found = async () => {
      const asked = ask({});
      await vi.advanceTimersByTimeAsync(1500);
      const { findings, missing } = await asked;
      return { messages: findings?.map(({ message }) => message), missing };
    };
    expect(await found()).toEqual({ messages: ['look 1'], missing: [] });
    expect(await found()).toEqual({ messages: ['look 1'], missing: [] });
    await vi.advanceTimersByTimeAsync(30_000);
    isSlow = true;
    expect(await found()).toEqual({ messages: ['look 1'], missing: [] });
    expect(await found()).toEqual({ messages: ['look 1'], missing: [] });
    expect(looks).toBe(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await found()).toEqual({ messages: ['look 2'], missing: [] });
  });

  it('health-show asks the doctor again after a look that failed', async () => {
    let looks = 0;
    const ask = healthWith({}, async () => {
      looks += 1;
      if (looks === 1) throw new ThroughlineError('unavailable', 'no answer');
      return [];
    });
    expect((await ask({})).missing).toEqual([
      { part: 'findings', code: 'unavailable', message: 'no answer' },
    ]);
    expect(await ask({})).toMatchObject({ findings: [], missing: [] });
  });
});

import { describe, expect, it, vi } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { type Finding, ok } from '../../../src/nats/doctor/server-findings.js';
import { checkedHandler } from '../../../src/services/common/service-shell.js';
import { createHealthQuery, type InstallationParts } from '../../../src/services/tools/health-query.js';
import { fakeTimers } from '../../support/fake-timers.js';

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
  const query = createHealthQuery({ parts: { ...PARTS, ...parts }, quickCheck, clock, partMs: 1500 });
  return checkedHandler('tool.health-show', query);
}

describe('health-show', () => {
  fakeTimers();

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

  it('health-show lets the doctor look once in half a minute', async () => {
    let looks = 0;
    const ask = healthWith({}, async () => {
      looks += 1;
      return [ok('server', `look ${looks}`)];
    });
    const found = async () => (await ask({})).findings?.map(({ message }) => message);
    expect(await Promise.all([found(), found()])).toEqual([['look 1'], ['look 1']]);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(await found()).toEqual(['look 1']);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await found()).toEqual(['look 2']);
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

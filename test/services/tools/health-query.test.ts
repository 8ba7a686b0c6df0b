import { describe, expect, it, vi } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { checkedHandler } from '../../../src/services/common/service-shell.js';
import { createHealthQuery, type HealthQueryOptions } from '../../../src/services/tools/health-query.js';
import { fakeTimers } from '../../support/fake-timers.js';

const NEVER = new Promise<never>(() => {});
const PARTS: Pick<HealthQueryOptions, 'services' | 'results'> = {
  services: async () => [],
  results: async () => ({ stored: 7, waiting: 1, rejected: 2 }),
};

function healthWith(parts: Partial<typeof PARTS>) {
  const clock = () => new Date(performance.now()).toISOString();
  const query = createHealthQuery({ ...PARTS, ...parts, clock, partMs: 1500 });
  return checkedHandler('tool.health-show', query);
}

describe('health-show', () => {
  fakeTimers();

  it('health-show answers within two seconds whatever does not, and says what is missing and why', async () => {
    const refused = async () => Promise.reject(new ThroughlineError('permission_denied', 'may not ask'));
    const asked = healthWith({ services: () => NEVER, results: refused })({});
    await vi.advanceTimersByTimeAsync(1999);
    const health = await Promise.race([asked, Promise.resolve('not there')]);
    expect(health).toMatchObject({ services: [] });
    expect(health).not.toHaveProperty('results');
    const late = expect.stringMatching(/timed out after 1500 ms: ask again/);
    expect(health).toMatchObject({
      missing: expect.arrayContaining([
        { part: 'results', code: 'permission_denied', message: 'may not ask' },
        { part: 'services', code: 'unavailable', message: late },
      ]),
    });
  });
});

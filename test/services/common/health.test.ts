import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { countingLogger, healthOf } from '../../../src/services/common/service-health.js';

const clock = () => '2026-01-01T00:00:00.000Z';

describe('a logger that counts', () => {
  it('a counting logger passes every line on, and keeps the last warning or error without its details', () => {
    const lines: unknown[] = [];
    const { logger, incidents } = countingLogger(
      { ...silentLogger, info: (...all) => lines.push(all), warn: (...all) => lines.push(all) },
      clock,
    );
    expect(incidents()).toEqual({ warnings: 0, errors: 0, last: null });
    logger.error({ code: 'internal', err: new Error('secret') }, 'failed');
    logger.warn({ session: 's', dispatch: 3, code: 'too_large', reason: 'secret' }, 'rejected');
    logger.info({ session: 't' }, 'fine');
    logger.debug?.({}, 'detail');
    expect(lines).toEqual([
      [{ session: 's', dispatch: 3, code: 'too_large', reason: 'secret' }, 'rejected'],
      [{ session: 't' }, 'fine'],
    ]);
    const told = { session: 's', dispatch: 3, code: 'too_large' };
    const last = { at: clock(), level: 'warn', message: 'rejected', ...told };
    expect(incidents()).toEqual({ warnings: 1, errors: 1, last });
  });
});

describe('the health of a service', () => {
  const { incidents } = countingLogger(silentLogger, clock);
  const parts = {
    host: 'a',
    pid: 7,
    uptimeMs: () => 61_400,
    connection: () => ({ connected: true }),
    incidents,
  };
  const common = {
    host: 'a',
    pid: 7,
    uptimeSeconds: 61,
    connection: { connected: true },
    warnings: 0,
    errors: 0,
    lastIncident: null,
  };

  it('the health of a service is what all services report, and its own numbers', async () => {
    expect(await healthOf(parts, () => ({ inHand: 2 }))()).toEqual({ ...common, inHand: 2 });
  });

  it('the health of a service gives the code of an error in its own numbers, and reports the rest', async () => {
    const lost = async () => Promise.reject(new ThroughlineError('unavailable', 'no answer'));
    expect(await healthOf(parts, lost)()).toEqual({ ...common, unknown: 'unavailable' });
  });
});

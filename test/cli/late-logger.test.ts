import { expect, it } from 'vitest';
import { lateLogger } from '../../src/cli/late-logger.js';
import { loadConfig } from '../../src/config/config.js';
import type { Logger } from '../../src/ports/logger.js';

/** A late logger at this level, what it wrote, and how often the real one was loaded. */
function logged(level: string) {
  const lines: string[] = [];
  let loads = 0;
  const write = (each: string) => (_fields: object, message: string) => void lines.push(`${each} ${message}`);
  const real: Logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
  const logger = lateLogger(loadConfig({ THROUGHLINE_LOG_LEVEL: level }), async () => {
    loads += 1;
    return real;
  });
  return { logger, lines, loads: () => loads };
}

it('the late logger loads the real one once, with the first line, and keeps the order of the lines', async () => {
  const { logger, lines, loads } = logged('debug');
  expect(loads()).toBe(0);
  logger.warn({}, 'one');
  logger.debug({}, 'two');
  logger.error({}, 'three');
  await expect.poll(() => lines).toEqual(['warn one', 'debug two', 'error three']);
  expect(loads()).toBe(1);
});

it('the late logger loads nothing for lines below the level', () => {
  const { logger, loads } = logged('warn');
  logger.debug({}, 'one');
  logger.info({}, 'two');
  expect(loads()).toBe(0);
  const silent = logged('silent');
  silent.logger.error({}, 'three');
  expect(silent.loads()).toBe(0);
});

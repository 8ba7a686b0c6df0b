import { expect, it } from 'vitest';
import { commandLogger } from '../../src/cli/command-context.js';
import { loadConfig } from '../../src/config/config.js';

function logged(level: string) {
  const lines: string[] = [];
  const logger = commandLogger(loadConfig({ THROUGHLINE_LOG_LEVEL: level }), (line) => void lines.push(line));
  return { logger, lines };
}

it('a command logs lines for people, with the session and the code', () => {
  const { logger, lines } = logged('info');
  logger.warn({ session: 'demo', code: 'schema_invalid', err: new Error('x') }, 'snapshot ignored');
  logger.info({}, 'done');
  expect(lines).toEqual(['-- session demo: snapshot ignored (schema_invalid)', '-- done']);
});

it('a command logs nothing below the level, and has no debug log to build lines for', () => {
  const { logger, lines } = logged('error');
  logger.warn({}, 'one');
  logger.error({}, 'two');
  expect({ lines, debug: logger.debug }).toEqual({ lines: ['-- two'], debug: undefined });
  const silent = logged('silent');
  silent.logger.error({}, 'three');
  expect(silent.lines).toEqual([]);
  expect(logged('debug').logger.debug).toBeTypeOf('function');
});

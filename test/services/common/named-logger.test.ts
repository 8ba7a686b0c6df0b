import { expect, it } from 'vitest';
import { namedLogger } from '../../../src/services/common/service-context.js';

it('each line of a service names it, unless its fields name another one', () => {
  const lines: object[] = [];
  const write = (fields: object) => void lines.push(fields);
  const logger = namedLogger({ debug: write, info: write, warn: write, error: write }, 'extractor');
  logger.debug?.({ session: 'demo' }, 'x');
  logger.info({}, 'x');
  logger.warn({ service: 'learnings' }, 'x');
  expect(lines).toEqual([
    { service: 'extractor', session: 'demo' },
    { service: 'extractor' },
    { service: 'learnings' },
  ]);
});

it('a logger without a debug log stays without one, so that nothing is built for its lines', () => {
  const write = () => {};
  const logger = namedLogger({ info: write, warn: write, error: write }, 'extractor');
  const fields = () => expect.unreachable('built for a line that is not written');
  logger.debug?.(fields(), 'x');
  expect(logger.debug).toBeUndefined();
});

import { describe, expect, it } from 'vitest';
import { takesBack } from '../../../src/memory/facts/contrast.js';
import { BOTH_HOLD, CONTRADICT, type Pair } from '../../support/contrasts.js';

const termOf = ([newer, older]: Pair) => takesBack({ text: newer })?.({ text: older });

describe('a statement that takes another one back', () => {
  it('is found in nine of ten pairs that contradict each other, in seven languages', () => {
    const missed = CONTRADICT.filter((pair) => termOf(pair) === undefined);
    expect(CONTRADICT.length).toBeGreaterThanOrEqual(60);
    expect(missed.length / CONTRADICT.length, JSON.stringify(missed, null, 1)).toBeLessThanOrEqual(0.1);
  });

  it.each(BOTH_HOLD)('%s | %s: both hold', (newer, older) => {
    expect(termOf([newer, older])).toBeUndefined();
  });

  it('ends nothing about another thing, and needs what the newer one is about in the older one', () => {
    const newer = takesBack({ text: 'No Redis', subject: 'web' });
    expect(newer?.({ text: 'Use Redis', subject: 'worker' })).toBeUndefined();
    expect(newer?.({ text: 'Use Redis' })).toBeUndefined();
    expect(newer?.({ text: 'Use Redis', subject: 'web' })).toBe('Redis');
  });

  it.each([
    ['use luxon instead (agent: Times are parsed with luxon now.)', 'Times are parsed with moment', 'moment'],
    [
      'ab jetzt nimm bun (Pakete werden jetzt mit bun installiert.)',
      'Pakete werden mit yarn installiert',
      'yarn',
    ],
    [
      'use luxon instead (agent: `t.ts` parses times now, moment is out of `package.json`)',
      'Times use moment',
      'moment',
    ],
    ['以后不要用 yarn，改用 bun 安装依赖', '依赖用 yarn 安装', 'yarn'],
    ['use luxon instead (It parses now, moment is out of date)', 'Times use moment', undefined],
    ['以后用 bun (依赖现在用 bun 安装。)', '依赖用 yarn 安装', 'yarn'],
    ['use luxon instead (agent: Times are parsed with luxon now.)', 'Times are stored in UTC', undefined],
    ['from now on write tests first', 'Tests are written with vitest', undefined],
    ['No, keep the jobs in Postgres. (They are in Postgres.)', 'The jobs are run on Fridays', undefined],
    ['以后先写测试', '测试用 vitest', undefined],
  ])('the user names nothing older: %s | %s', (newer, older, term) => {
    expect(termOf([`The user: ${newer}`, older])).toBe(term);
  });

  it.each([
    ['We switched from bunyan to pino in the gateway', 'Log with bunyan', undefined],
    ['We switched from bunyan to pino', 'Log with bunyan', 'bunyan'],
    ['Use Pulsar over RabbitMQ', 'Publish with RabbitMQ', 'RabbitMQ'],
    ['Use gRPC over TLS', 'Talk over TLS', undefined],
    ['Drop Memcached', 'Redis or Memcached? The user: "Memcached"', 'Memcached'],
    ['Drop Memcached', 'Which cache? The user: "the second one": Memcached', 'Memcached'],
    ['Drop Memcached', 'Redis or Memcached? The user: "Redis"', undefined],
  ])('what limits it, and what an answer says: %s | %s', (newer, older, term) => {
    expect(termOf([newer, older])).toBe(term);
  });

  it('subjects may differ if the newer one is about the whole project, or both name one matter', () => {
    const both = (newer: string, older: string) =>
      takesBack({ text: 'dayjs instead of moment', subject: newer })?.({ text: 'moment', subject: older });
    expect(both('lib', 'dates')).toBe('moment');
    expect(both('time', 'dates')).toBe('moment');
    expect(both('reports', 'dates')).toBeUndefined();
    expect(both('dates', 'lib')).toBeUndefined();
    const stored = takesBack({ text: 'No files for orders', subject: 'order storage' });
    expect(stored?.({ text: 'They are stored in files', subject: 'orders' })).toBe('files');
    expect(stored?.({ text: 'They are read from files', subject: 'orders' })).toBeUndefined();
  });
});

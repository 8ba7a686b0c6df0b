import { Command } from 'commander';
import { describe, expect, it, vi } from 'vitest';
import { givenOptions, localTime, moment, wholeNumber } from '../../src/cli/option-parsers.js';

/** The options of a command line as it passes them on to another process. */
function passedOn(...args: string[]): string[] {
  const command = new Command()
    .option('--port <n>', 'a number', wholeNumber(0))
    .option('--name <host...>', 'names')
    .option('--level <word>', 'a word with a default', 'low')
    .option('--auth')
    .option('--no-auth')
    .option('--no-page')
    .option('--detach');
  command.parse(args, { from: 'user' });
  return givenOptions(command, ['detach']);
}

describe('options that are passed on', () => {
  it.each([
    [[], []],
    [
      ['--port', '0', '--detach'],
      ['--port', '0'],
    ],
    [
      ['--name', 'one', 'two', '--auth'],
      ['--name', 'one', 'two', '--auth'],
    ],
    [
      ['--no-page', '--no-auth', '--level=high'],
      ['--level', 'high', '--no-auth', '--no-page'],
    ],
  ])('options that are passed on: of %j these are left: %j', (given, left) => {
    expect(passedOn(...given)).toEqual(left);
  });
});

it('a day is one of the local calendar, from its beginning or to its end, and a span counts back from now', () => {
  vi.stubEnv('TZ', 'Asia/Tokyo');
  expect(moment(false)('2026-03-01')).toBe('2026-02-28T15:00:00.000Z');
  expect(moment(true)('2026-03-01')).toBe('2026-03-01T14:59:59.999Z');
  expect(moment(true)('2026-03-01T10:00Z')).toBe('2026-03-01T10:00:00.000Z');
  expect(localTime(moment(false)('yesterday'))).toMatch(/ 00:00:00$/);
  expect(Math.round((Date.now() - Date.parse(moment(true)('2h'))) / 60_000)).toBe(120);
  for (const wrong of ['2 hours ago', '2026-02-31x', 'monday'])
    expect(() => moment(false)(wrong)).toThrow(/^Use a day such as/);
  vi.unstubAllEnvs();
});

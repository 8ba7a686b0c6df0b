import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { givenOptions, wholeNumber } from '../../src/cli/option-parsers.js';

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

import { execFileSync } from 'node:child_process';
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { nextPageCommand } from '../../src/cli/output.js';
import * as fc from '../support/properties.js';

/** The command that a call of `throughline session ls` or `log` names for its next page. */
async function named(...args: string[]): Promise<string> {
  let found = '';
  const program = new Command('throughline').option('--nats <url>');
  for (const command of [program.command('session').command('ls'), program.command('log [session]')])
    command
      .option('--text <text>')
      .option('--kind <kind...>')
      .option('--limit <n>', '', Number, 50)
      .option('-a, --all')
      .option('--page <cursor>')
      .option('--json')
      .action((...given) => {
        found = nextPageCommand(given.at(-1), 'eyJh');
      });
  await program.parseAsync(args, { from: 'user' });
  return found;
}

it('the command for the next page has the options of this one, and nothing that is preset', async () => {
  expect(await named('session', 'ls')).toBe('throughline session ls --page eyJh');
  expect(await named('session', 'ls', '--limit', '20', '--json', '--page', 'before')).toBe(
    'throughline session ls --limit 20 --json --page eyJh',
  );
  expect(await named('session', 'ls', '-a')).toBe('throughline session ls --all --page eyJh');
});

it('the command for the next page has the arguments and the server of this one, and each of several values', async () => {
  const args = ['log', 'demo', '--kind', 'result', 'rejected', '--nats', 'nats://10.0.0.5:4222'];
  expect(await named(...args, '--page', 'before')).toBe(`throughline ${args.join(' ')} --page eyJh`);
});

it('a shell reads the command for the next page as it was meant, whatever its options hold', async () => {
  const text = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((each) => !each.includes('\0'));
  await fc.assert(
    fc.asyncProperty(text, async (words) => {
      const command = (await named('session', 'ls', `--text=${words}`)).replace(
        /^throughline/,
        'printf "%s\\0"',
      );
      const read = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).split('\0').slice(0, -1);
      expect(read).toEqual(['session', 'ls', '--text', words, '--page', 'eyJh']);
    }),
    { numRuns: 30 },
  );
});

import { type Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { argumentsOf, documentedCommands } from '../support/documented-commands.js';

/** Each command that a page shows is one that the command line takes, with these options. */

async function parser(): Promise<Command> {
  const program = await createProgram();
  const silence = (command: Command): void => {
    command.exitOverride().configureOutput({ writeOut() {}, writeErr() {} });
    // A group alone has no arguments and no options, and no action either.
    const isMore = command.registeredArguments.length + command.options.length > 0 && command.parent !== null;
    if (command.commands.length === 0 || isMore) command.action(() => {});
    for (const each of command.commands) silence(each);
  };
  silence(program);
  return program;
}

const program = await parser();
const problemOf = async (args: readonly string[]): Promise<string | undefined> => {
  try {
    await program.parseAsync(['node', 'throughline', ...args.map((arg) => (arg === 'ID' ? '1' : arg))]);
    return undefined;
  } catch (error) {
    // Help and version end so as well.
    if (error instanceof CommanderError && error.exitCode === 0) return undefined;
    return error instanceof Error ? error.message : String(error);
  }
};

describe('the commands of the pages', () => {
  const shown = documentedCommands();

  it('the commands of the pages are found, also behind a pipe and over two lines', () => {
    expect(shown.length).toBeGreaterThan(80);
    expect(shown).toContainEqual({
      page: 'README.md',
      line: expect.stringMatching(/^echo '.*' \| throughline publish reviewer --session demo$/),
    });
    expect(argumentsOf(`a | throughline prompt -p "Write it" > prompt.txt`)).toEqual([
      ['prompt', '-p', 'Write it'],
    ]);
  });

  it.each(shown.map(({ page, line }) => [line, page]))(
    '%s (%s) is a command of the program',
    async (line) => {
      const called = argumentsOf(line);
      expect(called).not.toEqual([]);
      for (const args of called) expect(await problemOf(args)).toBeUndefined();
    },
  );

  it('a wrong option would be found', async () => {
    expect(await problemOf(['facts', 'demo', '--no-such-option'])).toMatch(/unknown option/);
    expect(await problemOf(['no-such-command'])).toMatch(/unknown command/);
  });
});

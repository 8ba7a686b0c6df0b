import { CommanderError } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { usageHint } from '../../src/cli/usage-hint.js';
import { cli } from '../support/cli.js';

let program: Awaited<ReturnType<typeof createProgram>>;
beforeAll(async () => {
  program = await createProgram();
});

async function hintAt(...words: string[]): Promise<string | undefined> {
  const quiet = await createProgram();
  for (const each of [quiet, ...quiet.commands, ...quiet.commands.flatMap(({ commands }) => commands)])
    each.configureOutput({ writeErr() {}, writeOut() {} });
  const error = await quiet.parseAsync(['node', 'throughline', ...words]).catch((fault: unknown) => fault);
  if (!(error instanceof CommanderError)) throw new Error('it is not a usage error');
  return usageHint(error, program, words);
}

describe('a command that is not there', () => {
  it.each([
    [['export'], 'did you mean "throughline session export"?'],
    [['add-task'], 'did you mean "throughline task add"?'],
    [['tool', 'add-task'], 'did you mean "throughline tool task-add"?'],
    [['notes'], /^did you mean "throughline note add", "throughline note ls", /],
    [['learning', 'archive'], /^did you mean "throughline session archive"/],
    [['compile'], 'did you mean "throughline prompt"?'],
    [['timeline'], 'did you mean "throughline log"?'],
    [['backup'], 'did you mean "throughline admin backup"?'],
    [['qwerty'], undefined],
    [
      ['session', 'demo'],
      /^"throughline session" takes one of ls, show, .*; of session demo, use "throughline session show demo"$/,
    ],
  ])('%j names the commands that are called so, wherever they stand', async (words, hint) => {
    if (hint instanceof RegExp) expect(await hintAt(...words)).toMatch(hint);
    else expect(await hintAt(...words)).toBe(hint);
  });
});

describe('the command line', () => {
  it('the command line says the hint below the error, and ends with the code of wrong usage', async () => {
    const { code, stderr } = await cli(['export']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error: unknown command 'export'.*\n-- did you mean .*"throughline session export"\?\n$/s,
    );
  });
});

describe('arguments that are missing or too many', () => {
  it('an argument that is missing is named with what it may be', async () => {
    expect(await hintAt('publish')).toBe('role is one of implementer, reviewer, observer');
  });

  it('the name of a session, given to a command that takes it as an option, is told where it belongs', async () => {
    expect(await hintAt('tool', 'note-list', 'demo')).toBe(
      'this command takes the name of its session as --session NAME',
    );
  });
});

describe('--help', () => {
  it.each([60, 80, 100])('--help of every command fits a terminal of %i columns', (columns) => {
    const inner = (command: typeof program): (typeof program)[] =>
      command.commands.flatMap((each) => [each, ...inner(each)]);
    for (const command of [program, ...inner(program)]) {
      command.configureOutput({ getOutHelpWidth: () => columns });
      const wide = command
        .helpInformation()
        .split('\n')
        // The line of the usage stays whole: it is one to copy. So does a long word.
        .filter((line) => line.length > columns && !line.startsWith('Usage: ') && line.trim().includes(' '));
      expect(wide, command.name()).toEqual([]);
    }
  });

  it('a paragraph of --help is broken by the width of the terminal alone', () => {
    const work = program.commands.find((each) => each.name() === 'work');
    work?.configureOutput({ getOutHelpWidth: () => 60 });
    const [, , ...lines] = (work?.helpInformation() ?? '').split('\n');
    const paragraph = lines.slice(0, lines.indexOf(''));
    expect(paragraph.length).toBeGreaterThan(3);
    expect(paragraph.slice(0, -1).filter((line) => line.length < 45)).toEqual([]);
  });
});

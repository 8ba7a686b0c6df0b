import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS, SHOWN_GROUPS } from '../../src/cli/command-table.js';
import { createProgram } from '../../src/cli/program.js';
import { cli } from '../support/cli.js';

const at = (program: Command, name: string) =>
  name
    .split(' ')
    .reduce<Command | undefined>(
      (command, word) => command?.commands.find((each) => each.name() === word),
      program,
    );

describe('the overview of the commands', () => {
  it('the overview of the commands is the same whether the commands are loaded or not', async () => {
    const whole = await createProgram();
    const bare = await createProgram(() => false);
    expect(bare.helpInformation()).toBe(whole.helpInformation());
    for (const { name } of COMMANDS) expect(at(whole, name)?.name(), name).toBe(name.split(' ').at(-1));
  });

  it('the overview has four groups with at most 28 commands, and names no command of other groups', async () => {
    const help = (await createProgram(() => false)).helpInformation();
    const groups = [...help.matchAll(/^(\w+):$/gm)].map(([, title]) => title);
    expect(groups).toEqual(['Options', ...SHOWN_GROUPS]);
    const listed = [...help.slice(help.indexOf('\nStart:')).matchAll(/^ {2}([a-z-]+)/gm)].map(
      ([, name]) => name,
    );
    expect(listed.length).toBeLessThanOrEqual(29);
    const shown = COMMANDS.filter(({ group }) => SHOWN_GROUPS.some((each) => each === group));
    expect([...listed].sort()).toEqual([...shown.map(({ name }) => name), 'help'].sort());
  });

  it('help --all lists every command, and help of a command is its --help', async () => {
    const all = await cli(['help', '--all']);
    expect(all.code).toBe(0);
    for (const { name } of COMMANDS) expect(all.stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    const help = (await cli(['task', 'add', '--help'])).stdout;
    expect(help).toContain('--priority');
    expect((await cli(['help', 'task', 'add'])).stdout).toBe(help);
    expect((await cli(['help', 'admin', 'serve'])).stdout).toContain('--only');
    expect(await cli(['help', 'nothing'])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('a command that is loaded', () => {
  it.each(COMMANDS.map(({ name }) => name))(
    'the loaded command %s stands in its place, with all its arguments and options',
    async (name) => {
      const program = await createProgram((each) => each === name);
      for (const entry of COMMANDS) expect(at(program, entry.name), entry.name).toBeDefined();
      expect(at(program, name)?.description()).not.toBe('');
    },
  );
});

describe('every list', () => {
  it('list works wherever ls does', async () => {
    const lists = (command: Command): Command[] =>
      command.commands.flatMap((each) => [...(each.name() === 'ls' ? [each] : []), ...lists(each)]);
    const found = lists(await createProgram());
    expect(found.length).toBeGreaterThan(7);
    for (const each of found) expect(each.aliases(), each.parent?.name()).toEqual(['list']);
  });
});

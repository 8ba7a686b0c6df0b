import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/command-table.js';
import { createProgram } from '../../src/cli/program.js';

const names = (program: Command) => program.commands.map((each) => each.name());

describe('the overview of the commands', () => {
  it('the overview of the commands is the same whether the commands are loaded or not', async () => {
    const whole = await createProgram();
    const bare = await createProgram(() => false);
    expect(bare.helpInformation()).toBe(whole.helpInformation());
    expect(names(whole)).toEqual(COMMANDS.map(({ name }) => name));
  });
});

describe('a command that is loaded', () => {
  it.each(COMMANDS.map(({ name }) => name))(
    'the loaded command %s stands in its place, with all its arguments and options',
    async (name) => {
      const program = await createProgram((each) => each === name);
      expect(names(program)).toEqual(COMMANDS.map((entry) => entry.name));
      const command = program.commands.find((each) => each.name() === name);
      expect(command?.description()).not.toBe('');
    },
  );
});

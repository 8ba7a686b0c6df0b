import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';

/** Rules that every command of the program follows. */

/** Commands that do not print an answer as JSON, and why. */
const WITHOUT_JSON: Readonly<Record<string, string>> = {
  up: 'prints one line when it is ready, and runs until it is stopped',
  serve: 'prints one line when it is ready, and runs until it is stopped',
  mcp: 'speaks JSON-RPC, or prints one line when it is ready, and runs until it is stopped',
  hook: 'prints what its client reads, and nothing else',
  completion: 'prints a script for a shell',
  'session export': 'prints JSON, an event a line',
  'schema print': 'prints a JSON Schema',
  'template print': 'prints a template, byte for byte',
};

/** Every command that does something, by its words. */
function leaves(command: Command, words: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]];
  return command.commands.flatMap((each) => leaves(each, [...words, each.name()]));
}

const commands = leaves(await createProgram());
const longOptions = (command: Command, hidden = false) =>
  command.options.filter((option) => option.hidden === hidden).map(({ long }) => long);

it('finds the commands of the program, those in groups included', () => {
  const words = commands.map(([each]) => each);
  expect(words).toContain('compile');
  expect(words).toContain('tool task-add');
  expect(words).toContain('proposals review');
});

it.each(commands)('"throughline %s" has --json, or a reason for not having it', (words, command) => {
  expect(longOptions(command).includes('--json')).toBe(!Object.hasOwn(WITHOUT_JSON, words));
});

it('every reason for no --json belongs to a command', () => {
  const words = commands.map(([each]) => each);
  expect(Object.keys(WITHOUT_JSON).filter((each) => !words.includes(each))).toEqual([]);
});

it.each(commands)('"throughline %s" calls a session --session, if it takes one', (_words, command) => {
  expect(longOptions(command)).not.toContain('--name');
  const takesSession = command.registeredArguments.some((argument) => argument.name() === 'session');
  if (takesSession) expect(longOptions(command)).toContain('--session');
});

it.each(commands)('"throughline %s" says in its help what it does, with an example', (_words, command) => {
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  expect(command.description()).not.toBe('');
  expect(help).toMatch(/Examples:\n {2}\$ .*throughline /);
});

import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';

/** Commands that do not print an answer as JSON, and why. */
const WITHOUT_JSON: Readonly<Record<string, string>> = {
  up: 'prints one line when it is ready, and runs until it is stopped',
  'admin serve': 'prints one line when it is ready, and runs until it is stopped',
  mcp: 'speaks JSON-RPC, or prints one line when it is ready, and runs until it is stopped',
  hook: 'prints what its client reads, and nothing else',
  'admin completion': 'prints a script for a shell',
  'session export': 'prints JSON, an event a line',
  connect: 'shows the change as a diff, and asks',
  uninstall: 'lists what goes, and asks',
  'prompt template': 'prints a template of Markdown',
  help: 'prints the help of a command',
  'team join': 'prints the URL that was given',
  'team leave': 'prints one line',
  'team revoke': 'prints one line',
  'team invite': 'prints a command and an invitation, a line each',
  'team rotate': 'prints a command and an invitation, a line each',
  'team owner add': 'prints one line',
  pause: 'prints one line',
  resume: 'prints one line',
};

/** A command that has others below it, and does something itself: a group alone has no options. */
const isMore = (command: Command) => command.parent !== null && command.options.length > 0;

function leaves(command: Command, words: readonly string[] = []): [string, Command][] {
  const own: [string, Command][] =
    command.commands.length === 0 || isMore(command) ? [[words.join(' '), command]] : [];
  return [...own, ...command.commands.flatMap((each) => leaves(each, [...words, each.name()]))];
}

const commands = leaves(await createProgram());
const longOptions = (command: Command, hidden = false) =>
  command.options.filter((option) => option.hidden === hidden).map(({ long }) => long);

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

it.each(commands)('"throughline %s" calls a task --task, if it has an option for one', (_words, command) => {
  expect(longOptions(command).filter((long) => /^--task-?(id|name)$/.test(long ?? ''))).toEqual([]);
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
  expect(help).toMatch(/Examples:\n {2}\$ (?:.*\n)?.*throughline /);
});

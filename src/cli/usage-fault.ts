import type { CommanderError } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import { isToken } from '../contracts/names.js';
import { nearestName } from '../shared/nearest-name.js';
import type { Command } from './cli-command.js';
import { COMMANDS, commandAt } from './command-table.js';

const MOST = 4;

/**
 * Returns the error for a wrong command line, in the words of commander. `details.fix` says how to go on.
 *
 * @param program the whole command line, every command loaded
 * @param words the command words that were given, without options
 */
export function usageFault(error: CommanderError, program: Command, words: readonly string[]) {
  const { command, rest } = commandAt(program, words);
  const help = `"${[...pathOf(command), '--help'].join(' ')}" lists what it takes, with an example`;
  const fix = hintOf(error, command, rest) ?? help;
  const [first = '', ...more] = error.message.replace(/^error: /, '').split('\n');
  // The second line of an unknown command is commander's own hint.
  const message = first.startsWith('unknown command') ? first : [first, ...more].join(' ');
  return new ThroughlineError('usage', choiceText(message) ?? message, { details: { fix } });
}

/** The words of commander for a value that is none of those allowed. */
const CHOICE =
  /^(?:command-argument value '([^']*)' is invalid for argument '([^']*)'|option '([^']*)' argument '([^']*)' is invalid)\. Allowed choices are ([^.]*)\.$/;

/** Returns such as `role is "implementr": did you mean implementer?`; undefined for another fault. */
function choiceText(message: string): string | undefined {
  const [, value, argument, option, optionValue, choices] = CHOICE.exec(message) ?? [];
  if (choices === undefined) return undefined;
  const given = value ?? optionValue ?? '';
  const near = nearestName(given, choices.split(', '));
  const name = argument ?? option?.replace(/ <.*/, '') ?? '';
  return `${name} is ${JSON.stringify(given)}: ${near === undefined ? `use one of ${choices}` : `did you mean ${near}?`}`;
}

function hintOf(error: CommanderError, command: Command, rest: readonly string[]): string | undefined {
  const [word = '', given = ''] = rest;
  const kind = { task: 'TAS', note: 'NOT' }[command.name()];
  if (word === 'restore' && kind !== undefined && /^\d+$/.test(given))
    return `use "throughline restore ${kind}-${given}"`;
  const elsewhere = MEANT[[...pathOf(command).slice(1), word].join(' ')] ?? MEANT[`* ${word}`];
  if (elsewhere !== undefined && command.commands.length > 0) return `use "throughline ${elsewhere}"`;
  if (error.code === 'commander.unknownCommand') {
    const near = /\(Did you mean ([^(]*)\?\)/.exec(error.message)?.[1];
    const known = commandsHint(command, word) ?? (near && `did you mean ${near}?`);
    if (known !== undefined) return known;
    if (command.parent === null) return '"throughline help --all" lists every command';
    if (word.includes(' ')) return `use "${[...pathOf(command), 'add'].join(' ')} TEXT"`;
    const inner = command.commands.map((child) => child.name()).filter((name) => name !== 'help');
    return `"${pathOf(command).join(' ')}" takes one of ${inner.join(', ')}`;
  }
  if (command.name() === 'move' && error.code === 'commander.missingMandatoryOptionValue')
    return 'name the session to move it to, as in "throughline task move TAS-1 -s api"';
  if (error.code !== 'commander.excessArguments') return undefined;
  // A group such as `facts` takes a session itself, so a misspelt command is an argument too many.
  const names = command.commands.map((child) => child.name());
  const meant = nearestName(word, names);
  if (meant !== undefined) return `did you mean "${[...pathOf(command), meant].join(' ')}"?`;
  const extra = rest[command.registeredArguments.length];
  const has = (name: string) => command.options.some(({ long }) => long === name);
  if (has('--task') && /^(?:tas-)?\d[\d.]*$/i.test(extra ?? ''))
    return `give the task by --task, as in -t ${extra}`;
  if (has('--prompt') && !isToken(extra)) return 'give what the agent must do by --prompt, as in -p "Go on"';
  const text = ['--content', '--reason'].find(has);
  const usage = `use "${command.createHelp().commandUsage(command)}", with a text of several words in quotes`;
  if (has('--file') && !isToken(extra)) return 'give the file by --file';
  if (text !== undefined) return `give the text by ${text}; ${usage}`;
  const isOne = rest.length === command.registeredArguments.length + 1;
  return isOne && isToken(extra) && has('--session')
    ? `if ${extra} is the session, give it as "-s ${extra}"; ${usage}`
    : usage;
}

/** Commands by words that a person may look for, with the group before them; * is any. */
const MEANT: Readonly<Record<string, string>> = {
  start: 'up',
  stop: 'down',
  init: 'connect',
  setup: 'connect',
  disconnect: 'connect --remove',
  search: 'recall TEXT',
  find: 'recall TEXT',
  undo: 'restore ID',
  '* restore': 'restore ID',
  explain: 'last',
  why: 'last',
  history: 'log',
  timeline: 'log',
  size: 'status --size',
  sessions: 'session ls',
  tasks: 'task ls',
  notes: 'note ls',
  questions: 'facts --kind question',
  kept: 'log',
  page: 'open',
  ui: 'open',
  web: 'open',
  wait: 'publish ROLE --wait',
  config: 'doctor',
  decide: 'note add TEXT --type decision',
  forget: 'facts retract ID',
  version: '--version',
  '* unblock': 'task edit ID --status pending',
  'facts show': 'facts --id ID',
  'task show': 'task ls',
};

/** `did you mean "throughline note add"?` for `add-note`; never a command that only programs call. */
function commandsHint(command: Command, given: string): string | undefined {
  const wanted = wordsOf(/^(?:delete|remove)$/.test(given) ? 'rm' : given);
  if (wanted.length === 0) return undefined;
  const leaves = leavesOf(command);
  const near = leaves.filter((path) => {
    const parts = wordsOf(path.join('-'));
    return wanted.every((part) => parts.includes(part));
  });
  if (near.length === 0) return undefined;
  const before = pathOf(command);
  const named = near.slice(0, MOST).map((path) => `"${[...before, ...path].join(' ')}"`);
  return `did you mean ${named.join(', ')}${near.length > MOST ? ' …' : ''}?`;
}

function wordsOf(name: string): string[] {
  return name
    .toLowerCase()
    .split(/[-_ ]/)
    .map((part) => (part.length > 3 && part.endsWith('s') ? part.slice(0, -1) : part))
    .filter((part) => part !== '');
}

function pathOf(command: Command): string[] {
  return [...(command.parent === null ? [] : pathOf(command.parent)), command.name()];
}

/** The commands below it that do something themselves, without those that only programs call. */
function leavesOf(command: Command): readonly string[][] {
  const hidden = COMMANDS.filter(({ group }) => group === 'hidden').map(({ name }) => name);
  return command.commands
    .filter((child) => child.name() !== 'help' && (command.parent !== null || !hidden.includes(child.name())))
    .flatMap((child) => [
      ...(child.commands.length === 0 || child.options.length > 0 ? [[child.name()]] : []),
      ...leavesOf(child).map((path) => [child.name(), ...path]),
    ]);
}

import type { Command, CommanderError } from 'commander';
import { isToken } from '../contracts/names.js';
import { COMMANDS, commandAt } from './command-table.js';

/** A way out of a wrong command line, beyond the message of commander. */

/** Most commands that a hint names. */
const MOST = 4;

/**
 * Returns a hint at what the user may have meant; undefined if nothing is close.
 *
 * @param program the whole command line, every command loaded
 * @param words the command words that were given, without options
 */
export function usageHint(
  error: CommanderError,
  program: Command,
  words: readonly string[],
): string | undefined {
  const { command, rest } = commandAt(program, words);
  const [argument] = command.registeredArguments;
  const [word = ''] = rest;
  switch (error.code) {
    case 'commander.unknownCommand':
      return commandsHint(command, word) ?? commandsHint(program, word) ?? innerHint(command, word);
    case 'commander.missingArgument':
      return argument?.argChoices === undefined
        ? undefined
        : `${argument.name()} is one of ${argument.argChoices.join(', ')}`;
    case 'commander.excessArguments':
      return argument === undefined && command.options.some(({ long }) => long === '--session')
        ? 'this command takes the name of its session as --session NAME'
        : undefined;
    default:
      return undefined;
  }
}

/** Lists the commands of a group, and the one to use if a session was given in place of a command. */
function innerHint(command: Command, given: string): string | undefined {
  if (command.parent === null) return undefined;
  const inner = command.commands.filter((each) => each.name() !== 'help');
  const path = pathOf(command).join(' ');
  const one = inner.find((each) => READING.has(each.name()) && takesSession(each));
  const meant =
    one === undefined || !isToken(given) ? '' : `; of session ${given}, use "${path} ${one.name()} ${given}"`;
  return `"${path}" takes one of ${inner.map((each) => each.name()).join(', ')}${meant}`;
}

/** Commands of a group that a person means who names a session alone. */
const READING: ReadonlySet<string> = new Set(['ls', 'show']);

function takesSession({ registeredArguments: [first] }: Command): boolean {
  return first?.name() === 'session';
}

/** `did you mean "throughline note add"?` for `notes` or `add-note`; never a command that only programs call. */
function commandsHint(command: Command, given: string): string | undefined {
  const wanted = partsOf(given);
  if (wanted.length === 0) return undefined;
  const leaves = leavesOf(command);
  const near = leaves.filter((path) => {
    const parts = partsOf(path.join('-'));
    return wanted.every((part) => parts.includes(part));
  });
  const also = command.parent === null ? alsoCalled(wanted) : [];
  if (near.length === 0 && also.length === 0) return undefined;
  const before = pathOf(command);
  const named = [...also, ...near.filter(([first]) => !also.some((path) => path[0] === first))]
    .slice(0, MOST)
    .map((path) => `"${[...before, ...path].join(' ')}"`);
  return `did you mean ${named.join(', ')}${near.length > MOST ? ' …' : ''}?`;
}

/** The commands at the top that people call by other words. */
function alsoCalled(wanted: readonly string[]): string[][] {
  return COMMANDS.filter(({ alsoCalled: words = [] }) => wanted.some((part) => words.includes(part))).map(
    ({ name }) => name.split(' '),
  );
}

/** The words of a name, each without the ending of a plural. */
function partsOf(name: string): string[] {
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
    .filter((each) => each.name() !== 'help' && (command.parent !== null || !hidden.includes(each.name())))
    .flatMap((each) =>
      each.commands.length === 0 ? [[each.name()]] : leavesOf(each).map((path) => [each.name(), ...path]),
    );
}

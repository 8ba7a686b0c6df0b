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
    case 'commander.missingMandatoryOptionValue':
      return missingOptionHint(command, rest);
    case 'commander.unknownOption':
      return argument === undefined ? undefined : dashHint(command, error.message, rest);
    case 'commander.excessArguments':
      return argument === undefined && command.options.some(({ long }) => long === '--session')
        ? 'this command takes the name of its session as --session NAME'
        : excessHint(command, rest);
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

/** The values of an option that is missing, and the whole command where one of them was given as an argument. */
function missingOptionHint(command: Command, rest: readonly string[]): string | undefined {
  const missing = command.options.find(
    (each) => each.mandatory && command.getOptionValue(each.attributeName()) === undefined && each.argChoices,
  );
  if (missing?.argChoices === undefined) return undefined;
  const value = rest.find((each) => missing.argChoices?.includes(each));
  const meant = `"${[...pathOf(command), missing.long, value].join(' ')}"`;
  return value === undefined
    ? `${missing.long} is one of ${missing.argChoices.join(', ')}`
    : `did you mean ${meant}? ${missing.long} is one of ${missing.argChoices.join(', ')}`;
}

function excessHint(command: Command, rest: readonly string[]): string | undefined {
  const excess = rest.slice(command.registeredArguments.length).map((each) => JSON.stringify(each));
  return excess.length === 0 ? undefined : `leave out ${excess.join(', ')}`;
}

/** An argument may begin with a dash; of an option that is near another one, commander says so. */
function dashHint(command: Command, message: string, rest: readonly string[]): string | undefined {
  const [, given] = /unknown option '(.+?)'/.exec(message) ?? [];
  if (given === undefined || message.includes('Did you mean')) return undefined;
  const words = [...pathOf(command), '--', ...(rest.some((word) => word !== given) ? ['…'] : []), given];
  return `an argument that begins with - goes behind --, as in "${words.join(' ')}"`;
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

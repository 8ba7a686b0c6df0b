import type { Command, CommanderError } from 'commander';

/** A way out of a wrong command line, beyond what commander says. */

/** Most commands that a hint names. */
const MOST = 4;

/**
 * What a person may have meant; undefined where nothing is near.
 *
 * @param program the whole command line, every command loaded
 * @param words the command words that were given, without options
 */
export function usageHint(
  error: CommanderError,
  program: Command,
  words: readonly string[],
): string | undefined {
  const { command, rest } = found(program, words);
  const [argument] = command.registeredArguments;
  switch (error.code) {
    case 'commander.unknownCommand':
      return commandsHint(command, rest[0] ?? '') ?? commandsHint(program, rest[0] ?? '');
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

/** The command that the words lead to, and what follows it. */
function found(program: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  let command = program;
  for (const [index, word] of words.entries()) {
    const inner = command.commands.find((each) => each.name() === word);
    if (inner === undefined) return { command, rest: words.slice(index) };
    command = inner;
  }
  return { command, rest: [] };
}

/** `try "throughline tool note-add" …` for `note`, `notes` or `add-note`. */
function commandsHint(command: Command, given: string): string | undefined {
  const wanted = partsOf(given);
  const near = leavesOf(command).filter((path) => {
    const parts = partsOf(path.join('-'));
    return wanted.length > 0 && wanted.every((part) => parts.includes(part));
  });
  if (near.length === 0) return undefined;
  const before = pathOf(command);
  const named = near.slice(0, MOST).map((path) => `"${[...before, ...path].join(' ')}"`);
  return `did you mean ${named.join(', ')}${near.length > MOST ? ' …' : ''}?`;
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

/** The commands below it that do something themselves. */
function leavesOf(command: Command): readonly string[][] {
  return command.commands
    .filter((each) => each.name() !== 'help')
    .flatMap((each) =>
      each.commands.length === 0 ? [[each.name()]] : leavesOf(each).map((path) => [each.name(), ...path]),
    );
}

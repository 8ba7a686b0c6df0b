import type { CommanderError } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import { nearestName } from '../shared/nearest-name.js';
import type { Command } from './cli-command.js';
import { COMMANDS, commandAt } from './command-table.js';

const MOST = 4;

/**
 * Returns the error for a wrong command line: it names the argument or option, its value and what it may be. `details.fix`
 * says how to go on.
 *
 * @param program the whole command line, every command loaded
 * @param words the command words that were given, without options
 */
export function usageFault(
  error: CommanderError,
  program: Command,
  words: readonly string[],
): ThroughlineError {
  const { command, rest } = commandAt(program, words);
  const help = `"${[...pathOf(command), '--help'].join(' ')}" lists what it takes, with an example`;
  const fix = hintOf(error, command, rest[0] ?? '') ?? help;
  return new ThroughlineError('usage', plainMessage(error.message, command), { details: { fix } });
}

/** Phrases of commander, as the text around their parts, and ours. */
const PHRASES: readonly (readonly [marks: readonly string[], say: (...parts: string[]) => string])[] = [
  [
    ["command-argument value '", "' is invalid for argument '", "'. "],
    (value, name, why = '') => `${name} is "${value}": ${fixOf(why)}`,
  ],
  [
    ["option '", "' argument '", "' is invalid. "],
    (flags = '', value, why = '') => `${flagIn(flags)} is "${value}": ${fixOf(why)}`,
  ],
  [["option '", "' argument missing"], (flags = '') => `${flagIn(flags)} needs a value: ${flags}`],
  [["required option '", "' not specified"], (flags = '') => `${flagIn(flags)} is missing: give ${flags}`],
  [
    ["unknown option '", "'"],
    (flag, rest = '') => {
      const near = nearIn(rest);
      return `there is no option ${flag}${near === undefined ? '' : `: ${near}`}`;
    },
  ],
  [["unknown command '", "'"], (name) => `there is no command "${name}"`],
  [
    ["too many arguments for '", "'. Expected ", ' argument', ' but got ', '.'],
    (name, most = '', plural, given) =>
      `${name} takes ${most === '0' ? 'no' : most} argument${plural}, not ${given}`,
  ],
];

function plainMessage(message: string, command: Command): string {
  const text = message.replace(/^error: /, '');
  const [missing] = partsOf(text, ["missing required argument '", "'"]) ?? [];
  if (missing !== undefined) {
    const choices = command.registeredArguments.find((each) => each.name() === missing)?.argChoices;
    const usage = `use "${command.createHelp().commandUsage(command)}"`;
    return `${missing} is missing: ${choices === undefined ? usage : oneOf(choices)}`;
  }
  for (const [marks, say] of PHRASES) {
    const found = partsOf(text, marks);
    if (found !== undefined) return say(...found);
  }
  return text;
}

/** The texts behind each of the marks, which follow each other; undefined if the first does not begin the text. */
function partsOf(text: string, [first = '', ...marks]: readonly string[]): string[] | undefined {
  if (!text.startsWith(first)) return undefined;
  let rest = text.slice(first.length);
  const parts: string[] = [];
  for (const mark of marks) {
    const at = rest.indexOf(mark);
    if (at < 0) return undefined;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at + mark.length);
  }
  return [...parts, rest];
}

function nearIn(message: string): string | undefined {
  const [, names] = partsOf(`\n${message}`, ['\n', '(Did you mean ', '?)']) ?? [];
  return names === undefined ? undefined : `did you mean ${names}?`;
}

/** `--session` of `-s, --session <name>`. */
function flagIn(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

/** The fix of a parser, as the end of a sentence. */
function fixOf(why: string): string {
  const near = nearIn(why);
  if (near !== undefined) return near;
  const [choices] = partsOf(why, ['Allowed choices are ', '.']) ?? [];
  if (choices !== undefined) return oneOf(choices.split(', '));
  return `${why.charAt(0).toLowerCase()}${why.slice(1)}`.replace(/\.$/, '');
}

function oneOf(choices: readonly string[]): string {
  const last = choices.at(-1) ?? '';
  return choices.length < 2 ? `use ${last}` : `use ${choices.slice(0, -1).join(', ')} or ${last}`;
}

function hintOf(error: CommanderError, command: Command, word: string): string | undefined {
  if (error.code === 'commander.unknownCommand') {
    const known = commandsHint(command, word) ?? nearIn(error.message);
    if (known !== undefined) return known;
    if (command.parent === null) return '"throughline help --all" lists every command';
    const inner = command.commands.map((each) => each.name()).filter((name) => name !== 'help');
    return `"${pathOf(command).join(' ')}" takes one of ${inner.join(', ')}`;
  }
  if (error.code !== 'commander.excessArguments') return undefined;
  // A group such as `facts` takes a session itself, so a misspelt command is an argument too many.
  const meant = nearestName(
    word,
    command.commands.map((each) => each.name()),
  );
  return meant === undefined
    ? `use "${command.createHelp().commandUsage(command)}", with a text of several words in quotes`
    : `did you mean "${[...pathOf(command), meant].join(' ')}"?`;
}

/** `did you mean "throughline note add"?` for `notes` or `add-note`; never a command that only programs call. */
function commandsHint(command: Command, given: string): string | undefined {
  const wanted = wordsOf(given);
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

/** The words of a name, each without the ending of a plural. */
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
    .filter((each) => each.name() !== 'help' && (command.parent !== null || !hidden.includes(each.name())))
    .flatMap((each) => [
      ...(each.commands.length === 0 || each.options.length > 0 ? [[each.name()]] : []),
      ...leavesOf(each).map((path) => [each.name(), ...path]),
    ]);
}

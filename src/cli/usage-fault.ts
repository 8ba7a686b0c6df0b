import type { CommanderError } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import { isToken } from '../contracts/names.js';
import { nearestName } from '../shared/nearest-name.js';
import type { Command } from './cli-command.js';
import { COMMANDS, commandAt } from './command-table.js';

const MOST = 4;
/** A word of one other group is worth naming; one that many groups have, such as `show`, says nothing. */
const ELSEWHERE = 1;

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
  const fix = hintOf(error, command, rest[0] ?? '', program) ?? help;
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

/** In a group, a word that is also a command at the top is rather the name of a session: `session demo`. */
function isTopCommand({ parent }: Command, word: string): boolean {
  return parent !== null && COMMANDS.some(({ name }) => name === word);
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

function hintOf(error: CommanderError, command: Command, word: string, program: Command): string | undefined {
  if (error.code === 'commander.unknownCommand')
    return (
      commandsHint(command, word) ??
      nearIn(error.message) ??
      (isTopCommand(command, word) ? undefined : commandsHint(program, word, ELSEWHERE)) ??
      innerHint(command, word) ??
      '"throughline help --all" lists every command'
    );
  if (error.code !== 'commander.excessArguments') return undefined;
  // A group such as `facts` takes a session itself, so a misspelt command is an argument too many.
  const meant = nearestName(
    word,
    command.commands.map((each) => each.name()),
  );
  return meant === undefined
    ? excessHint(command)
    : `did you mean "${[...pathOf(command), meant].join(' ')}"?`;
}

/** Says where a second argument belongs: a text in an option or in quotes, a session in `--session`. */
function excessHint(command: Command): string | undefined {
  const has = (name: string) => command.options.some(({ long }) => long === name);
  const names = command.registeredArguments.map((each) => each.name());
  if (names.length === 0)
    return has('--session') ? 'give the name of its session as --session NAME' : undefined;
  const text = names.some((name) => TEXTS.has(name)) ? undefined : ['--content', '--reason'].find(has);
  const hints = [
    ...(text === undefined ? [] : [`a text as ${text} "…"`]),
    ...(has('--session') && !names.includes('session') ? ['a session as --session NAME'] : []),
  ];
  const quotes = names.some((name) => TEXTS.has(name)) ? ' with its text in quotes' : '';
  const give = hints.length === 0 ? '' : `; give ${hints.join(' and ')}`;
  return `use "${command.createHelp().commandUsage(command)}"${quotes}${give}`;
}

/** Arguments of several words. */
const TEXTS: ReadonlySet<string> = new Set(['content', 'text', 'answer', 'title', 'query']);

/** Lists the commands of a group, and the one to use if a session was given in place of a command. */
function innerHint(command: Command, given: string): string | undefined {
  if (command.parent === null) return undefined;
  const inner = command.commands.filter((each) => each.name() !== 'help');
  const path = pathOf(command).join(' ');
  const one = inner.find(
    (each) => READING.has(each.name()) && each.registeredArguments[0]?.name() === 'session',
  );
  const meant =
    one === undefined || !isToken(given) || READING.has(given)
      ? ''
      : `; for a session named ${given}, use "${path} ${one.name()} ${given}"`;
  return `"${path}" takes one of ${inner.map((each) => each.name()).join(', ')}${meant}`;
}

/** Commands of a group that a person means who names a session alone. */
const READING: ReadonlySet<string> = new Set(['ls', 'show']);

/**
 * `did you mean "throughline note add"?` for `notes` or `add-note`; never a command that only programs call.
 *
 * @param most if more commands have the word, none is suggested
 */
function commandsHint(command: Command, given: string, most?: number): string | undefined {
  const wanted = wordsOf(given);
  if (wanted.length === 0) return undefined;
  const leaves = leavesOf(command);
  const near = leaves.filter((path) => {
    const parts = wordsOf(path.join('-'));
    const isNamed = (part: string | undefined) => part !== undefined && parts.includes(part);
    return wanted.every((part) => isNamed(part) || (command.parent !== null && isNamed(SYNONYMS[part])));
  });
  const also = command.parent === null ? alsoCalled(wanted) : [];
  if (near.length === 0 && also.length === 0) return undefined;
  if (most !== undefined && near.length > most) return undefined;
  const before = pathOf(command);
  const named = [...also, ...near.filter(([first]) => !also.some((path) => path[0] === first))]
    .slice(0, MOST)
    .map((path) => `"${[...before, ...path].join(' ')}"`);
  return `did you mean ${named.join(', ')}${near.length > MOST ? ' …' : ''}?`;
}

const SYNONYMS: Readonly<Record<string, string>> = {
  ...{ remove: 'rm', delete: 'rm', set: 'edit', update: 'edit', statu: 'edit', start: 'next', claim: 'next' },
  ...{ complete: 'done', finish: 'done', new: 'add', create: 'add', find: 'ls', search: 'ls', ls: 'show' },
  ...{ unarchive: 'reopen', rename: 'title', approve: 'accept', unblock: 'edit', cancel: 'edit' },
};

function alsoCalled(wanted: readonly string[]): string[][] {
  return COMMANDS.filter(({ alsoCalled: words = [] }) => wanted.some((part) => words.includes(part))).map(
    ({ name }) => name.split(' '),
  );
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

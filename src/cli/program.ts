import { Command, CommanderError, Help, Option } from 'commander';
import type { ErrorCode } from '../contracts/error-codes.js';
import { ThroughlineError } from '../contracts/errors.js';
import { isToken } from '../contracts/names.js';
import { visible } from '../shared/terminal-text.js';
import { VERSION } from '../version.js';
import { COMMANDS, type CommandEntry } from './command-table.js';
import { Interrupted } from './interrupted.js';
import { examples, note } from './output.js';

/** Columns of the narrowest text beside a list in `--help`. */
const NARROWEST = 16;
/** Within a paragraph. */
const LINE_BREAK = /(?<=\S)\n(?=\S)/g;

/**
 * The whole command line. Of a command that is not loaded there is only its line in the overview: each brings modules
 * that take longer to load than all others take to run.
 *
 * @param loads which commands are loaded; default: all
 */
export async function createProgram(loads: (name: string) => boolean = () => true): Promise<Command> {
  const program = new Command('throughline')
    .description('The memory that coding agents share: results in, facts kept, the next prompt out.')
    .version(VERSION)
    .addOption(serverOption())
    // Descriptions are broken by the width of the terminal alone, also a narrow one.
    .configureHelp({
      minWidthToWrap: NARROWEST,
      boxWrap(text, width) {
        return Help.prototype.boxWrap.call(this, text.replaceAll(LINE_BREAK, ' '), width);
      },
    })
    .showHelpAfterError('(add --help for the options and an example)')
    .addHelpText(
      'after',
      examples(
        'throughline up',
        `echo '{"task_id":"1","status":"completed","summary":"Parser done"}' | throughline publish implementer -s demo`,
        'throughline compile -s demo -t 2 -p "Write the printer"',
      ),
    )
    // The message about a wrong option quotes it.
    .configureOutput({
      writeOut: (text) => process.stdout.write(visible(text)),
      writeErr: (text) => process.stderr.write(visible(text)),
    })
    .exitOverride();
  for (const entry of COMMANDS) {
    if (loads(entry.name)) await addCommand(program, entry);
    else addEntry(program, entry);
  }
  return program;
}

function serverOption(): Option {
  return new Option(
    '--nats <url>',
    'NATS server to use (default: NATS_URL, else that of "throughline up", else nats://127.0.0.1:4222)',
  );
}

async function addCommand(program: Command, { summary, load }: CommandEntry): Promise<void> {
  const add = await load();
  add(program);
  program.commands.at(-1)?.summary(summary);
}

function addEntry(program: Command, { name, summary, takes = '' }: CommandEntry): void {
  const command = program.command(`${name} ${takes.replace('[options]', '')}`.trimEnd()).summary(summary);
  // Never parsed: it makes the overview say [options].
  if (takes.startsWith('[options]')) command.addOption(new Option('--any').hideHelp());
}

/** The name of the command that is asked for, or asked about with `help`. */
function chosenCommand(argv: readonly string[]): string | undefined {
  const [first, second] = operandsOf(argv);
  return first === 'help' ? second : first;
}

/** The words before any option of a command; none where the program itself says what is wrong with the options. */
function operandsOf(argv: readonly string[]): readonly string[] {
  const probe = new Command()
    .addOption(serverOption())
    .exitOverride()
    .configureOutput({ writeErr() {} });
  try {
    return probe.parseOptions(argv.slice(2)).operands;
  } catch {
    return [];
  }
}

/** Exit codes: 0 fine, 1 failed, 2 wrong usage, 128 and its number for a signal. */
export async function runCli(argv: readonly string[]): Promise<number> {
  try {
    const chosen = chosenCommand(argv);
    // A script for a shell is made from all commands; what such a script asks for must come fast.
    const isWhole = chosen === 'completion' && !argv.includes('--sessions');
    const program = await createProgram((name) => isWhole || name === chosen);
    await program.parseAsync([...argv]);
    // A command that has printed everything, and found something that does not work.
    return process.exitCode === undefined ? 0 : Number(process.exitCode);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode !== 0) await noteUsage(error, argv);
    return exitCode(error);
  }
}

async function noteUsage(error: CommanderError, argv: readonly string[]): Promise<void> {
  const hint = usageHint(error, await createProgram(), operandsOf(argv));
  if (hint !== undefined) note(`-- ${hint}`);
}

function exitCode(error: unknown): number {
  // Commander has printed its message; help and version end with code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof ThroughlineError) {
    note(`throughline: ${error.message} (${error.code})`);
    return isWrongUsage(error) ? 2 : 1;
  }
  note(`throughline: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return 1;
}

/**
 * Whether what was typed, or set as a variable, can never be right. A service refuses some values by the field of the request
 * that they are in; a result or a file that cannot be read is named without one.
 */
function isWrongUsage({ code, details }: ThroughlineError): boolean {
  return USAGE_CODES.has(code) || (code === 'schema_invalid' && details?.fields !== undefined);
}

const USAGE_CODES: ReadonlySet<ErrorCode> = new Set([
  ...(['usage', 'config_invalid', 'not_connected', 'token_invalid'] as const),
]);

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

/** What a group of commands has, and how to give the session that was given in place of one. */
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

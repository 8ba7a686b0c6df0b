import { Command, CommanderError, Help, Option } from 'commander';
import type { ErrorCode } from '../contracts/error-codes.js';
import { ThroughlineError } from '../contracts/errors.js';
import { visible } from '../shared/terminal-text.js';
import { VERSION } from '../version.js';
import { COMMANDS, type CommandEntry } from './command-table.js';
import { Interrupted } from './interrupted.js';
import { examples, note } from './output.js';
import { usageHint } from './usage-hint.js';

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

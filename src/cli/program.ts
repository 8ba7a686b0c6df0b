import { CommanderError, Help, Option } from 'commander';
import { codeOf, messageOf, ThroughlineError, usageError } from '../contracts/errors.js';
import { visible } from '../shared/terminal-text.js';
import { ifPossible } from '../shared/text.js';
import { VERSION } from '../version.js';
import { Command } from './cli-command.js';
import { COMMANDS, type CommandEntry, commandAt, GROUP_COMMANDS, SHOWN_GROUPS } from './command-table.js';
import { Interrupted, note, out } from './output.js';

/** Columns of the narrowest text beside a list in `--help`. */
const NARROWEST = 16;
const LINE_BREAK = /(?<=\S)\n(?=\S)/g;
const MORE = '\n"throughline help --all" also lists the commands of administrators, such as backup.';

/**
 * The whole command line. A command that is not loaded has only its line in the overview: each brings modules that take
 * longer to load than all others take to run.
 *
 * @param loads which commands are loaded; default: all
 */
export async function createProgram(loads: (name: string) => boolean = () => true): Promise<Command> {
  const program = new Command('throughline')
    .description('The memory that coding agents share: results in, facts kept, the next prompt out.')
    .version(VERSION)
    .addOption(SERVER_OPTION)
    // Only the width of the terminal breaks descriptions, also of a narrow one.
    .configureHelp({
      minWidthToWrap: NARROWEST,
      boxWrap(text, width) {
        return Help.prototype.boxWrap.call(this, text.replaceAll(LINE_BREAK, ' '), width);
      },
    })
    .addHelpText('after', MORE)
    .examples(
      'throughline up --detach',
      `echo '{"task_id":"1","status":"completed","summary":"Parser done"}' | throughline publish implementer -s demo`,
      'throughline prompt -s demo -t 2 -p "Write the printer"',
    )
    // Messages about a wrong option quote it.
    .configureOutput({
      writeOut: (text) => process.stdout.write(visible(text)),
      writeErr: (text) => process.stderr.write(visible(text)),
      // `runCli` says it, as it says every error.
      outputError() {},
    })
    .exitOverride()
    .helpCommand(false);
  for (const entry of COMMANDS) {
    const parent = groupCommand(program, entry) ?? program;
    if (loads(entry.name)) await addCommand(parent, entry);
    else addEntry(parent, entry);
    const command = parent.commands.at(-1);
    if (SHOWN_GROUPS.some((shown) => shown === entry.group)) command?.helpGroup(`${entry.group}:`);
    // Commander hides only commands that it creates itself.
    else if (entry.group === 'hidden') Object.assign(command ?? {}, { _hidden: true });
  }
  addHelpCommand(program);
  return program;
}

const SERVER_OPTION = new Option(
  '--nats <url>',
  'NATS server to use (default: NATS_URL, else that of "throughline team join", else your own)',
);

function groupCommand(program: Command, { group }: CommandEntry): Command | undefined {
  if (group !== 'admin') return undefined;
  const known = program.commands.find((child) => child.name() === group);
  if (known !== undefined) return known;
  const { about, example } = GROUP_COMMANDS[group];
  return program.command(group, { hidden: true }).description(about).helpCommand(false).examples(example);
}

async function addCommand(parent: Command, { summary, load }: CommandEntry): Promise<void> {
  const add = await load();
  add(parent);
  const command = parent.commands.at(-1)?.summary(summary).helpCommand(false);
  command?.commands.find((child) => child.name() === 'ls')?.alias('list');
  command?.commands.find((child) => child.name() === 'rm')?.aliases(['remove', 'delete']);
}

function addEntry(parent: Command, { name, summary, takes }: CommandEntry): void {
  const word = name.split(' ').at(-1);
  const command = parent.command(`${word} ${takes.replace('[options]', '')}`.trimEnd()).summary(summary);
  // Never parsed: it makes the overview say [options].
  if (takes.startsWith('[options]')) command.addOption(new Option('--any').hideHelp());
}

function addHelpCommand(program: Command): void {
  program
    .command('help')
    .summary('show the help of a command; --all lists every command')
    .description('Shows the help of a command, or the overview. With --all it lists every command.')
    .argument('[command...]', 'the words of the command')
    .option('--all', 'also list the commands below admin')
    .helpGroup('Start:')
    .examples('throughline help --all', 'throughline help task add')
    .action((words: readonly string[], { all }: { all?: boolean }) => {
      const { command, rest } = commandAt(program, words);
      if (rest[0] !== undefined) return program.error(`error: unknown command '${words.join(' ')}'`);
      command.outputHelp();
      if (all === true && command === program) out(allCommands());
    });
}

function allCommands(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const groups = { admin: 'Administrators', hidden: 'Called by programs' };
  const lines = Object.entries(groups).flatMap(([group, title]) => {
    const rows = COMMANDS.filter((entry) => entry.group === group);
    return ['', `${title}:`, ...rows.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)];
  });
  return lines.join('\n');
}

/** The words before any option of a command; none where the program itself says what is wrong with the options. */
function operandsOf(argv: readonly string[]): readonly string[] {
  const probe = new Command()
    .addOption(SERVER_OPTION)
    .exitOverride()
    .configureOutput({ writeErr() {} });
  return ifPossible(() => probe.parseOptions(argv.slice(2)).operands) ?? [];
}

/** Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 what is named does not exist, 128 and its number for a signal. */
export async function runCli(argv: readonly string[]): Promise<number> {
  try {
    const broken = argv.find((word) => word.includes('\uFFFD'));
    if (broken !== undefined)
      throw usageError(`${JSON.stringify(broken)} is not UTF-8 text: send it as UTF-8`);
    // The name of the command that is asked for, or asked about with `help`, as the table says it.
    const words = operandsOf(argv);
    const [first, second] = words[0] === 'help' ? words.slice(1) : words;
    const chosen = first !== undefined && first in GROUP_COMMANDS ? `${first} ${second}` : first;
    const program = await createProgram((name) => name === chosen);
    await program.parseAsync([...argv]);
    // A command that has printed everything, and found something that does not work.
    return process.exitCode === undefined ? 0 : Number(process.exitCode);
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode;
    if (!(error instanceof CommanderError)) return failed(error, argv);
    // Help and version end with code 0. A program or group that was given no command has shown its help instead.
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return 2;
    const { usageFault } = await import('./usage-fault.js');
    return failed(usageFault(error, await createProgram(), operandsOf(argv)), argv);
  }
}

/** Says what failed on standard error: in one line, with `--json` as JSON. Returns the exit code. */
function failed(error: unknown, argv: readonly string[]): number {
  const code = codeOf(error);
  const { fix } = error instanceof ThroughlineError ? error : new ThroughlineError(code, messageOf(error));
  if (argv.includes('--json')) note(JSON.stringify({ error: { code, message: messageOf(error), fix } }));
  else if (error instanceof ThroughlineError) {
    note(`throughline: ${error.message} (${code})`);
    if (code === 'usage' && error.details?.fix !== undefined) note(`-- ${fix}`);
  } else note(`throughline: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  if (!(error instanceof ThroughlineError)) return 1;
  return isWrongUsage(error) ? 2 : code === 'not_found' ? 3 : 1;
}

/**
 * Returns true if the words or variables that were given can never be right. A service refuses some values by the field of
 * the request that they are in; a result or a file that cannot be read is named without one.
 */
function isWrongUsage({ code, details }: ThroughlineError): boolean {
  return USAGE_CODES.has(code) || (code === 'schema_invalid' && details?.fields !== undefined);
}

const USAGE_CODES: ReadonlySet<string> = new Set([
  'usage',
  'config_invalid',
  'not_connected',
  'token_invalid',
]);

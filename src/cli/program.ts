import { Command, CommanderError } from 'commander';
import { ThroughlineError } from '../errors.js';
import { visible } from '../terminal-text.js';
import { VERSION } from '../version.js';
import { examples, note } from './cli.js';
import { compileCommand } from './compile.js';
import { doctorCommand } from './doctor.js';
import { factsCommand } from './facts.js';
import { foreignCommand } from './foreign.js';
import { healthCommand } from './health.js';
import { importCommand } from './import-git.js';
import { Interrupted } from './interrupted.js';
import { learningsCommand } from './learnings.js';
import { natsServerCommand } from './nats-server.js';
import { permissionsCommand } from './permissions.js';
import { proposalsCommand } from './proposals.js';
import { publishCommand } from './publish.js';
import { rejectedCommand } from './rejected.js';
import { repairCommand } from './repair.js';
import { initCommand, ledgerCommand, statusCommand } from './run.js';
import { serveCommand } from './serve.js';
import { historyCommand, sessionCommand, tasksCommand } from './session.js';
import { snapshotCommand } from './snapshot.js';
import { telemetryCommand } from './telemetry.js';
import { templateCommand } from './template.js';
import { toolCommand } from './tool.js';
import { traceCommand } from './trace.js';
import { upCommand } from './up.js';

/** The whole command line. */
export function createProgram(): Command {
  const program = new Command('throughline')
    .description('The memory that coding agents share: results in, facts kept, the next prompt out.')
    .version(VERSION)
    .option('--nats <url>', 'NATS server to use (default: NATS_URL, else nats://127.0.0.1:4222)')
    .showHelpAfterError('(add --help for the options and an example)')
    .addHelpText(
      'after',
      examples(
        'throughline up',
        `echo '{"task_id":"1","status":"completed","summary":"Parser done"}' | throughline publish implementer -s demo`,
        'throughline compile -s demo -t 2 -p "Write the printer"',
      ),
    )
    // What is wrong with an option is said by quoting it.
    .configureOutput({
      writeOut: (text) => process.stdout.write(visible(text)),
      writeErr: (text) => process.stderr.write(visible(text)),
    })
    .exitOverride();
  const commands = [
    upCommand,
    serveCommand,
    publishCommand,
    compileCommand,
    toolCommand,
    sessionCommand,
    tasksCommand,
    historyCommand,
    factsCommand,
    proposalsCommand,
    learningsCommand,
    snapshotCommand,
    rejectedCommand,
    foreignCommand,
    importCommand,
    templateCommand,
    initCommand,
    statusCommand,
    ledgerCommand,
    telemetryCommand,
    traceCommand,
    doctorCommand,
    healthCommand,
    repairCommand,
    permissionsCommand,
    natsServerCommand,
  ];
  for (const add of commands) add(program);
  return program;
}

/** Exit codes: 0 fine, 1 failed, 2 usage, 128 and its number for a signal. */
export async function runCli(argv: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync([...argv]);
    // A command that has said all there is to say, and found something that does not work.
    return process.exitCode === undefined ? 0 : Number(process.exitCode);
  } catch (error) {
    return exitCode(error);
  }
}

function exitCode(error: unknown): number {
  // Commander has printed what there is to say; help and version end with code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof ThroughlineError) {
    note(`throughline: ${error.message} (${error.code})`);
    return error.code === 'usage' || error.code === 'config_invalid' || error.code === 'token_invalid'
      ? 2
      : 1;
  }
  note(`throughline: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return 1;
}

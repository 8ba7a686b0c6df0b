import { hostname } from 'node:os';
import { serverText } from '../config/user-server.js';
import { ThroughlineError } from '../contracts/errors.js';
import type { ServiceName } from '../contracts/names.js';
import { AS_OPERATOR, connectionFinding, examine } from '../nats/doctor/examine.js';
import { accessFindings, type Finding, ok } from '../nats/doctor/server-findings.js';
import { serviceFindings } from '../nats/doctor/service-findings.js';
import { SERVICES } from '../services/serve.js';
import { visible } from '../shared/terminal-text.js';
import { VERSION } from '../version.js';
import type { Command, Flags } from './cli-command.js';
import { type Cli, cliOf, coloured, out, withConnection } from './command-context.js';
import { folderSession } from './session-argument.js';
import { type Colors, coloursOf } from './show-reply.js';
import { hookRemarks } from './unsent-command.js';

export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'Checks the server and its limits, a test message, streams, consumers and buckets, waiting and rejected results, the\n' +
        'services, and who can reach the server. Changes nothing. The exit code is 1 when something does not work, and 0 when there are only warnings.\n' +
        'Streams are compared with THROUGHLINE_REPLICAS and THROUGHLINE_TUNING.',
    )
    .option('--json', 'one JSON array of {check, level, message, fix?}')
    .examples('throughline doctor', 'throughline doctor --json')
    .action(async (options: { json?: boolean }, command: Command) => {
      const cli = cliOf(command);
      folderSession(cli.config);
      const kept = hookRemarks(cli).map((message): Finding => ({ check: 'hooks', level: 'warn', message }));
      tell([...(await examination(cli)), ...kept], cli, options.json);
    });
}

async function examination(cli: Cli): Promise<Finding[]> {
  const { replicas, ackWaitMs, requestTimeoutMs } = cli.config;
  const expected = { replicas, ackWaitMs, requestTimeoutMs, version: VERSION, now: Date.now };
  const inUse = ok('server in use', serverText(cli.server));
  try {
    return await withConnection(cli, async (connection) => {
      const found = await examine(connection, expected);
      // The rest is about this machine.
      return [inUse, ...forMember(cli, found), ...accessFindings(connection)];
    });
  } catch (error) {
    if (!(error instanceof ThroughlineError) || error.code === 'config_invalid') throw error;
    return [inUse, connectionFinding(error)];
  }
}

/** A member's rights are enough to work, but not to look at streams: nothing fails then. */
function forMember({ server }: Cli, found: readonly Finding[]): readonly Finding[] {
  const allowed = found.filter(({ fix }) => fix !== AS_OPERATOR);
  if (server.kind !== 'team' || server.as === undefined || allowed.length === found.length) return found;
  return [...allowed, ok('streams and limits', 'doctor checks them on the machine of the server')];
}

interface HealthOptions extends Flags<'here' | 'json'> {
  readonly only?: readonly ServiceName[];
}

export function healthCommand(program: Command): void {
  program
    .command('health')
    .description(
      'Asks each service for its health, as `doctor` does, and checks nothing else. Made for the health check of a container.\n' +
        'The exit code is 1 when a service does not answer or cannot work, and 0 when there are only warnings.',
    )
    .choice('--only <service...>', 'ask only these', SERVICES)
    .option('--here', 'ask only the instances on this machine, or in this container')
    .option('--json', 'one JSON array of {check, level, message, fix?}')
    .examples('throughline admin health', 'throughline admin health --here --only extractor')
    .action(async ({ only, here, json }: HealthOptions, command: Command) => {
      const cli = cliOf(command);
      const { requestTimeoutMs: timeoutMs } = cli.config;
      const of = { only, host: here ? hostname() : undefined };
      const expected = { version: VERSION, now: Date.now(), timeoutMs, ...of };
      const found = await withConnection(cli, (connection) => serviceFindings(connection, expected));
      tell(found, cli, json);
    });
}

function tell(found: readonly Finding[], cli: Cli, json = false): void {
  if (json) out(JSON.stringify(found));
  else for (const finding of found) out(findingLines(finding, coloursOf(cli)), coloured(cli));
  if (found.some(({ level }) => level === 'fail')) process.exitCode = 1;
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function findingLines({ check, level, message, fix }: Finding, pc: Colors): string {
  const line = `${pc[COLOURS[level]](level.padEnd(4))}  ${check}: ${visible(message)}`;
  return fix === undefined ? line : `${line}\n      ${pc.dim(`→ ${visible(fix)}`)}`;
}

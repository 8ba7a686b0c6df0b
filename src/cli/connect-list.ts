import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import {
  CONNECT_CLIENTS,
  CONNECT_NAMES,
  type ConnectClientName,
  type Scope,
} from '../agents/connect/client-table.js';
import type { EntryState } from '../agents/connect/config-edit.js';
import { clientState, installedProgram } from '../agents/connect/connect-plan.js';
import { readerOf } from '../agents/connect/write-changes.js';
import { messageOf } from '../contracts/errors.js';
import { type Cli, cliOf, examples, note, out } from './command-context.js';
import { placeOf } from './connect-place.js';
import { serverProblem } from './inspector-options.js';

/** A client, and whether what connects it works. */
interface ConnectedClient {
  readonly client: ConnectClientName;
  readonly title: string;
  /** As it says itself; `null` where it is not installed. */
  readonly version: string | null;
  readonly project: EntryState | 'unreadable';
  readonly user: EntryState | 'unreadable';
  readonly works: boolean;
  /** What stands in the way, with the fix. */
  readonly problems: readonly string[];
}

const VERSION_TIMEOUT_MS = 5000;
const run = promisify(execFile);

/** Adds `throughline connect ls`. */
export function addConnectList(connect: Command): void {
  connect
    .command('ls')
    .description('Lists the coding agents: what is installed, connected where, and whether it works.')
    .option('--json', 'one JSON array of {client, title, version, project, user, works, problems}')
    .addHelpText('after', examples('throughline connect ls', 'throughline connect ls --json'))
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const cli = cliOf(command);
      const common = await commonProblems(cli);
      const found = await Promise.all(CONNECT_NAMES.map((name) => connectedClient(cli, name, common)));
      if (json) return out(JSON.stringify(found));
      for (const each of found) out(line(each));
      const problems = new Set(found.flatMap(({ problems }) => problems));
      for (const problem of problems) note(`-- ${problem}`);
      if (found.every(({ project, user }) => project === 'absent' && user === 'absent')) {
        note('-- nothing is connected: "throughline connect codex" connects Codex in this folder');
      }
    });
}

async function connectedClient(
  cli: Cli,
  client: ConnectClientName,
  common: readonly string[],
): Promise<ConnectedClient> {
  const { title, program, problem } = CONNECT_CLIENTS[client];
  const path = installedProgram(program, cli.config.env);
  const problems: string[] = [];
  const stateIn = (scope: Scope): EntryState | 'unreadable' => {
    try {
      const place = placeOf(cli, scope);
      return clientState(client, place, readerOf(place));
    } catch (error) {
      problems.push(messageOf(error));
      return 'unreadable';
    }
  };
  const states = { project: stateIn('project'), user: stateIn('user') };
  for (const scope of ['project', 'user'] as const) {
    if (states[scope] === 'outdated') {
      const option = scope === 'user' ? ' --user' : '';
      problems.push(
        `${title} has part of what connects it, or an older version: run "throughline connect ${client}${option}" again`,
      );
    }
    const place = placeOf(cli, scope);
    const own = states[scope] === 'connected' ? problem?.(place, readerOf(place)) : undefined;
    if (own !== undefined) problems.push(own);
  }
  const isConnected = states.project === 'connected' || states.user === 'connected';
  if (isConnected && path === undefined)
    problems.push(`${title} is connected and not installed here: "${program}" is not on your PATH`);
  if (isConnected) problems.push(...common);
  const version = path === undefined ? null : await versionOf(path);
  return { client, title, version, ...states, works: isConnected && problems.length === 0, problems };
}

/** What stands in the way of every client. */
async function commonProblems(cli: Cli): Promise<string[]> {
  const server = await serverProblem(cli);
  return [
    ...(installedProgram('throughline', cli.config.env) === undefined
      ? [
          '"throughline" is not on your PATH, so hooks cannot start it: run "npm link" or "npm install --global"',
        ]
      : []),
    ...(server === undefined ? [] : [server]),
  ];
}

function line({ title, version, project, user, works }: ConnectedClient): string {
  const where = [
    ...(project === 'absent' ? [] : [`this folder: ${project}`]),
    ...(user === 'absent' ? [] : [`user: ${user}`]),
  ];
  const connected =
    where.length === 0 ? 'not connected' : `${where.join(', ')}, ${works ? 'works' : 'does not work'}`;
  return `${title.padEnd(12)} ${(version ?? 'not installed').padEnd(16)} ${connected}`;
}

/** The version that a program says; a program that says none is installed still. */
async function versionOf(path: string): Promise<string> {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: VERSION_TIMEOUT_MS, cwd: homedir() });
    return /\b\d{1,5}\.\d{1,5}(?:\.[\w+-]{1,30})?/.exec(stdout)?.[0] ?? 'unknown version';
  } catch {
    return 'unknown version';
  }
}

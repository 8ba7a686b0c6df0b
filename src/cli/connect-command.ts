import { existsSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Argument } from 'commander';
import { createTwoFilesPatch } from 'diff';
import picocolors from 'picocolors';
import {
  MAX_PROJECT_FILE,
  plainPlan,
  projectSettings,
  proposedSession,
  strayKeys,
} from '../agents/agent-session.js';
import {
  CONNECT_CLIENTS,
  CONNECT_NAMES,
  type ConnectClientName,
  type Scope,
  type Where,
} from '../agents/connect/client-table.js';
import type { EntryState } from '../agents/connect/config-edit.js';
import {
  clientState,
  connectPlan,
  type FileChange,
  PROJECT_FILE_NAME,
  type ProjectFields,
  removePlan,
} from '../agents/connect/connect-plan.js';
import { readerOf, writeChanges } from '../agents/connect/write-changes.js';
import { type Config, stateDirOf } from '../config/config.js';
import {
  connectedProject,
  connectedProjects,
  type ProjectSettings,
  pausedFolder,
  pausedText,
  recordConnected,
  removeConnected,
  setPaused,
} from '../config/connected-projects.js';
import { gitAbove, repositoryOf } from '../config/git-repository.js';
import { ownerOf } from '../config/session-names.js';
import { serverText, userStore } from '../config/user-server.js';
import { messageOf, ThroughlineError, usageError } from '../contracts/errors.js';
import { projectOf, token } from '../contracts/names.js';
import { readRegularFile } from '../engine/files/user-state.js';
import { serviceFindings } from '../nats/doctor/service-findings.js';
import { executablesOnPath } from '../nats/server/install-server.js';
import { defined } from '../shared/collections.js';
import { counted, oneLine } from '../shared/text.js';
import { VERSION } from '../version.js';
import type { Command, Flags } from './cli-command.js';
import { type Cli, cliOf, coloured, note, out, sessionHere, withConnection } from './command-context.js';
import { runningUp, stopDetached } from './detached-up.js';
import { confirmed } from './output.js';
import { requirePerson } from './request-command.js';

type ConnectOptions = ProjectFields & Flags<'remove' | 'all' | 'dryRun' | 'yes' | 'user'>;

export function connectCommand(program: Command): void {
  const connect = program
    .command('connect')
    .description(
      'Writes hooks and the MCP server into the configuration of a coding agent: of this project, or with --user of all\n' +
        'your projects. Shows the exact change and asks first. Everything else in these files stays as it is.\n' +
        'Without a client it only connects the folder: the session and project of its .throughline.json apply from then on.',
    )
    .addArgument(new Argument('[client]', 'the coding agent').choices(CONNECT_NAMES))
    .option('--remove', 'take out what connect wrote')
    .option('--all', 'with --remove: every client, in every folder and for all your projects')
    .option('--user', 'for all your projects (default: this folder)')
    .option('--dry-run', 'show the change, and write nothing')
    .option('--yes', 'write without asking')
    .option(
      '--session <name>',
      'session of this project, also one of another repository (default: the one that hooks use here)',
    )
    .option('--project <name>', 'project of its learnings (default: the same name)')
    .option('--plan <file>', 'its plan (default: the one that `plan follow` finds)')
    .examples(
      'throughline connect codex',
      'throughline connect',
      'throughline connect claude --dry-run',
      'throughline connect claude --remove',
      'throughline connect --remove --all',
    )
    .action(async (client: ConnectClientName | undefined, options: ConnectOptions, command: Command) => {
      const cli = cliOf(command);
      if (options.all === true) {
        if (options.remove !== true || client !== undefined)
          throw usageError('--all goes with --remove, and without a client');
        return disconnectAll(cli, options);
      }
      const isAlone = () =>
        everyConnection(cli).some((entry) => !entry.client && entry.place.project === process.cwd());
      if (client === undefined && (options.user === true || (options.remove === true && !isAlone()))) {
        throw usageError(`which client? Name one of ${CONNECT_NAMES.join(', ')}, or "ls" to see them all`);
      }
      if (client === 'agents-md' && options.user === true)
        throw usageError('agents-md is for one project: leave out --user');
      if (options.remove === true) await disconnect(cli, client, options);
      // For a user whose clients are connected with `--user`, and a project that was cloned.
      else if (client === undefined) await connected(cli, undefined, options, 'project');
      else await connectTo(cli, client, options);
    });
  addConnectList(connect);
}

const NOT_ON_PATH =
  '"throughline" is not on your PATH, so hooks cannot start it: run "npm link" or "npm install --global"';

async function connectTo(cli: Cli, client: ConnectClientName, options: ConnectOptions): Promise<void> {
  const { title, program, confirm } = CONNECT_CLIENTS[client];
  const scope = options.user === true ? 'user' : 'project';
  const { env } = cli.config;
  if (program !== undefined && !(await isOnPath(program, env))) {
    note(`-- ${title} is not installed here: "${program}" is not on your PATH. This takes effect once it is`);
  }
  if (!(await isOnPath('throughline', env))) note(`-- ${NOT_ON_PATH}`);
  const { changes, isDone } = await connected(cli, client, options, scope);
  if (!isDone || options.dryRun === true) return;
  for (const { path, backup, record } of changes)
    if (backup === 'make') note(`-- ${shown(path)} is kept as ${record.copy}`);
  const changed = scope === 'project' ? changes.map(({ path }) => shown(path)).join(', ') : '';
  if (changed !== '')
    note(
      `-- commit ${changed}: work trees and clones have the hooks then. In a clone, run "throughline connect" once`,
    );
  const server = await serverProblem(cli);
  if (server !== undefined) note(`-- ${server}`);
  const where = scope === 'project' ? `session ${sessionHere(cli.config).session} on ` : '';
  note(`-- from now on, agents read and write ${where}${serverText(cli.server)}`);
  const steps = [scope === 'project' ? confirm.project : undefined, confirm.always];
  const left = steps.filter((step) => step !== undefined);
  for (const step of left.length > 0 ? left : [`start \`${program}\``]) note(`-- next: ${step}`);
}

async function connected(
  cli: Cli,
  client: ConnectClientName | undefined,
  options: ConnectOptions,
  scope: Scope,
): Promise<{ readonly changes: readonly FileChange[]; readonly isDone: boolean }> {
  const place = placeOf(cli, scope);
  const file = join(place.project, PROJECT_FILE_NAME);
  const read = scope === 'project' ? readRegularFile(file, MAX_PROJECT_FILE) : undefined;
  if (read !== undefined && 'fault' in read)
    throw new ThroughlineError('config_invalid', `${file} ${read.fault}: remove it, then connect again`);
  const name = proposedSession(stateDirOf(cli.config.env), place.project);
  const usual = defined({ session: name, project: name, plan: plainPlan(place.project) });
  const defaults = scope === 'project' ? usual : {};
  const changes = connectPlan(client, place, projectFields(options, scope), defaults);
  const record = scope === 'project' ? newRecord(cli, place, file, changes, options.session) : undefined;
  if (changes.length === 0 && record === undefined) {
    const title = client === undefined ? 'this folder' : CONNECT_CLIENTS[client].title;
    note(`-- ${title} is connected already: nothing to change`);
  } else if (!(await written(cli, changes, options, place))) return { changes, isDone: false };
  if (record !== undefined) recordConnected(stateDirOf(cli.config.env), place.project, record);
  return { changes, isDone: true };
}

/** Settings that connecting records, shown before they are agreed to; undefined where they are recorded. */
function newRecord(
  cli: Cli,
  place: Where,
  file: string,
  changes: readonly FileChange[],
  named: string | undefined,
): ProjectSettings | undefined {
  const text = changes.find(({ path }) => path === file)?.after ?? place.read(file) ?? '';
  const { session, project, plan, agents } = projectSettings(file, text);
  const wrong = (what: string) => new ThroughlineError('config_invalid', `${file}: ${what}`);
  if (session === undefined || project === undefined)
    throw wrong('session and project are not texts: correct them');
  if (plan !== undefined && (isAbsolute(plan) || plan.split(sep)[0] === '..'))
    throw wrong(`plan ${plan} is outside of the project: move the plan into it, or name it to "plan follow"`);
  const settings = { session, project, ...(plan !== undefined && { plan }), ...(agents && { agents }) };
  const stateDir = stateDirOf(cli.config.env);
  const known = connectedProject(stateDir, place.project);
  if (isDeepStrictEqual(known, { folder: known?.folder, ...settings })) return undefined;
  const owner = ownerOf(stateDir, projectOf(session));
  const { address } = repositoryOf(place.project, gitAbove(place.project));
  const isAgreed = session === named || session === known?.session;
  if (!isAgreed && owner !== undefined && owner !== address)
    throw new ThroughlineError(
      'not_connected',
      `session ${session} in ${file} belongs to ${owner}: add --session ${projectOf(session)} to share its memory, or --session with a name of your own`,
    );
  const stray = strayKeys(file, text);
  if (stray !== undefined) note(`-- ${stray}`);
  note(`-- agents in this folder will read and write session ${session} of project ${project}`);
  if (plan !== undefined) note(`-- and follow the plan ${oneLine(plan)}`);
  if (agents !== undefined) note(`-- and have the roles ${JSON.stringify(agents)}`);
  for (const other of connectedProjects(stateDir))
    if (other.session === session && other.folder !== known?.folder)
      note(`-- ${other.folder} uses this session, too`);
  return settings;
}

function placeOf(cli: Cli, scope: Scope, project = process.cwd()): Where {
  const read = readerOf({ scope, project });
  return { scope, project, home: homedir(), env: cli.config.env, exists: existsSync, read };
}

async function disconnect(cli: Cli, client: ConnectClientName | undefined, options: ConnectOptions) {
  const scope = options.user === true ? 'user' : 'project';
  const place = placeOf(cli, scope);
  const changes = removePlan(client, place);
  if (client === undefined || changes.length > 0) {
    const isLast =
      client === undefined || changes.some(({ path }) => path === join(place.project, PROJECT_FILE_NAME));
    if ((await written(cli, changes, options, place)) && isLast)
      removeConnected(stateDirOf(cli.config.env), place.project);
  } else
    note(
      `-- ${CONNECT_CLIENTS[client].title} is not connected ${scope === 'user' ? 'for you' : 'in this folder'}: nothing to take out`,
    );
}

/** Finds what connect wrote for this user, in each connected folder that still exists and for all projects: each client, or none. */
function everyConnection(cli: Cli) {
  const folders = connectedProjects(stateDirOf(cli.config.env)).map(({ folder }) => folder);
  const places = [
    placeOf(cli, 'user'),
    ...folders.filter((folder) => existsSync(folder)).map((folder) => placeOf(cli, 'project', folder)),
  ];
  return places.flatMap((place) => {
    const clients = CONNECT_NAMES.filter((name) => clientState(name, place) !== 'absent');
    const isAlone = place.scope === 'project' && clients.length === 0;
    return (isAlone ? [undefined] : clients).map((client) => {
      const where = place.scope === 'user' ? 'for all your projects' : `in ${place.project}`;
      const title = client === undefined ? 'a connection without a client' : CONNECT_CLIENTS[client].title;
      return { client, place, text: `${title} ${where}` };
    });
  });
}

function removeConnections(cli: Cli): void {
  for (const { client, place } of everyConnection(cli)) writeChanges(removePlan(client, place), place);
  const stateDir = stateDirOf(cli.config.env);
  for (const { folder } of connectedProjects(stateDir)) removeConnected(stateDir, folder);
}

async function disconnectAll(cli: Cli, { yes, dryRun }: ConnectOptions): Promise<void> {
  const connections = everyConnection(cli);
  for (const { text } of connections) out(text);
  if (connections.length === 0) return note('-- nothing is connected: nothing to take out');
  if (dryRun === true) return note('-- nothing was changed');
  if (!(await confirmed(`Take out ${counted(connections.length, 'connection')}?`, yes))) return;
  removeConnections(cli);
  note(`-- ${counted(connections.length, 'connection')} taken out`);
}

async function written(cli: Cli, changes: readonly FileChange[], options: ConnectOptions, place: Where) {
  const inColour = coloured(cli);
  for (const change of changes) out(diffText(change, inColour), inColour);
  if (options.dryRun === true) {
    note(`-- ${counted(changes.length, 'file')} would change; nothing was changed`);
    return false;
  }
  const act = options.remove === true ? 'Disconnect' : 'Connect';
  const question = changes.length === 0 ? `${act} it?` : `Change ${counted(changes.length, 'file')}?`;
  if (!(await confirmed(question, options.yes))) return false;
  writeChanges(changes, place);
  const removed = changes.filter(({ after }) => after === undefined).length;
  const kept = changes.length - removed;
  if (kept > 0) note(`-- ${counted(kept, 'file')} written`);
  if (removed > 0) note(`-- ${counted(removed, 'file')} removed`);
  return true;
}

function projectFields({ session, project, plan }: ConnectOptions, scope: Scope): ProjectFields {
  if (scope === 'user' && (session ?? project ?? plan) !== undefined)
    throw usageError('--session, --project and --plan are for one project: leave them out, or --user');
  return defined({ session: session && token(session, '--session'), project, plan });
}

function diffText({ path, before, after }: FileChange, inColour: boolean): string {
  const { red, green, cyan, bold } = picocolors.createColors(inColour);
  const nameOf = (text: string | undefined) => (text === undefined ? '/dev/null' : shown(path));
  const options = {
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  };
  const names = [nameOf(before), nameOf(after)] as const;
  const patch = createTwoFilesPatch(...names, before ?? '', after ?? '', undefined, undefined, options);
  return patch
    .split('\n')
    .map((line) => {
      if (/^(---|\+\+\+) /.test(line)) return bold(line);
      if (line.startsWith('@@')) return cyan(line);
      if (line.startsWith('+')) return green(line);
      return line.startsWith('-') ? red(line) : line;
    })
    .join('\n');
}

function shown(path: string): string {
  const here = relative(process.cwd(), path);
  return here.startsWith('..') ? path : here;
}

function addConnectList(connect: Command): void {
  connect
    .command('ls')
    .description('Lists the coding agents: what is installed, connected where, and whether it works.')
    .option('--json', 'one JSON array of {client, title, installed, project, user, works, problems}')
    .examples('throughline connect ls', 'throughline connect ls --json')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const cli = cliOf(command);
      const common = await commonProblems(cli);
      const found = await Promise.all(CONNECT_NAMES.map((name) => connectedClient(cli, name, common)));
      if (json) return out(JSON.stringify(found));
      for (const client of found) out(line(client));
      const paused = pausedFolder(stateDirOf(cli.config.env), process.cwd());
      if (paused !== undefined) note(`-- ${pausedText(paused)}`);
      for (const problem of new Set(found.flatMap(({ problems }) => problems))) note(`-- ${problem}`);
      if (found.every(({ project, user }) => project === 'absent' && user === 'absent')) {
        note('-- nothing is connected: "throughline connect claude" connects Claude Code in this folder');
      }
    });
}

async function connectedClient(cli: Cli, client: ConnectClientName, common: readonly string[]) {
  const { title, program, problem } = CONNECT_CLIENTS[client];
  // A file that several clients read needs no program.
  const installed = program === undefined || (await isOnPath(program, cli.config.env));
  const problems: string[] = [];
  const stateIn = (scope: Scope): EntryState | 'unreadable' => {
    try {
      return clientState(client, placeOf(cli, scope));
    } catch (error) {
      problems.push(messageOf(error));
      return 'unreadable';
    }
  };
  const states = { project: stateIn('project'), user: stateIn('user') };
  for (const scope of ['project', 'user'] as const) {
    const again = `"throughline connect ${client}${scope === 'user' ? ' --user' : ''}"`;
    if (states[scope] === 'outdated')
      problems.push(`${title} has part of what connects it, or an older version: run ${again} again`);
    const fault = states[scope] === 'connected' ? problem?.(placeOf(cli, scope)) : undefined;
    if (fault !== undefined) problems.push(fault);
  }
  const isConnected = states.project === 'connected' || states.user === 'connected';
  if (isConnected && !installed)
    problems.push(`${title} is connected and not installed here: "${program}" is not on your PATH`);
  if (isConnected) problems.push(...common);
  return { client, title, installed, ...states, works: isConnected && problems.length === 0, problems };
}

async function isOnPath(program: string, env: Config['env']): Promise<boolean> {
  const endings = process.platform === 'win32' ? (env.PATHEXT ?? '').split(';') : [''];
  const found = await Promise.all(endings.map((ending) => executablesOnPath(program + ending, env)));
  return found.flat().length > 0;
}

async function commonProblems(cli: Cli): Promise<string[]> {
  const isFound = await isOnPath('throughline', cli.config.env);
  const problems = [isFound ? undefined : NOT_ON_PATH, await serverProblem(cli)];
  try {
    sessionHere(cli.config);
  } catch (error) {
    problems.push(messageOf(error));
  }
  return problems.filter((problem) => problem !== undefined);
}

/** Why hooks and tools would find no services; `undefined` where all answer. */
async function serverProblem(cli: Cli): Promise<string | undefined> {
  const expected = { version: VERSION, now: Date.now(), timeoutMs: cli.config.requestTimeoutMs };
  try {
    const found = await withConnection(cli, (connection) => serviceFindings(connection, expected));
    return found.find(({ level }) => level === 'fail')?.message;
  } catch (error) {
    return messageOf(error);
  }
}

function line(client: Awaited<ReturnType<typeof connectedClient>>): string {
  const { title, installed, project, user, works } = client;
  const where = [
    ...(project === 'absent' ? [] : [`this folder: ${project}`]),
    ...(user === 'absent' ? [] : [`user: ${user}`]),
  ];
  const connected =
    where.length === 0 ? 'not connected' : `${where.join(', ')}, ${works ? 'works' : 'does not work'}`;
  return `${title.padEnd(12)} ${installed ? '' : 'not installed, '}${connected}`;
}

export function pauseCommand(program: Command): void {
  addSwitch(program.command('pause'), true)
    .description(
      'Hooks keep nothing of the conversations in a folder and below it, until "throughline resume". An agent still reads the memory at its\n' +
        'start, and what it reports by MCP is kept. To keep nothing of one turn, begin its prompt with <private>.',
    )
    .examples('throughline pause', 'throughline pause ../notes');
}

export function resumeCommand(program: Command): void {
  addSwitch(program.command('resume'), false)
    .description('Hooks keep what conversations in a folder leave again. Needs a terminal.')
    .examples('throughline resume');
}

function addSwitch(command: Command, paused: boolean): Command {
  return command
    .argument('[folder]', 'the folder', '.')
    .action((folder: string, _: object, { parent }: Command) => {
      if (!existsSync(folder)) throw usageError(`${folder} does not exist: name a folder`);
      if (!paused) requirePerson();
      const stateDir = stateDirOf(cliOf(parent as Command).config.env);
      setPaused(stateDir, folder, paused);
      const real = realpathSync(folder);
      const above = pausedFolder(stateDir, real);
      if (paused) out(`paused ${above}: "throughline resume" keeps its conversations again`);
      else out(above === undefined ? `conversations in ${real} are kept` : `${above} is still paused`);
    });
}

export function uninstallCommand(program: Command): void {
  program
    .command('uninstall')
    .description(
      'Takes out of this machine what Throughline has written for you: the entries of every connected client, the server, and\n' +
        'the state and cache directories with all sessions. Lists it and asks first. "admin backup" keeps a copy.',
    )
    .option('--keep-memory', 'leave the state directory: all sessions stay')
    .option('--dry-run', 'show the list, and change nothing')
    .option('--yes', 'remove without asking')
    .examples('throughline uninstall --dry-run', 'throughline uninstall --keep-memory')
    .action(async (options: Flags<'keepMemory' | 'dryRun' | 'yes'>, command: Command) => {
      const cli = cliOf(command);
      const { config } = cli;
      const stateDir = stateDirOf(config.env);
      const store = userStore(stateDir);
      const running = await runningUp(store);
      const folders = [config.cacheDir, ...(options.keepMemory === true ? [] : [stateDir])].filter((folder) =>
        existsSync(folder),
      );
      for (const { text } of everyConnection(cli)) out(text);
      if (running !== undefined) out(`the server ${running.url}`);
      for (const folder of folders) out(`${folder}${folder === stateDir ? ', with all sessions' : ''}`);
      if (options.dryRun === true) return note('-- nothing was changed');
      if (!(await confirmed('Remove all of this?', options.yes))) return;
      removeConnections(cli);
      await stopDetached(store, config.shutdownMs);
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
      note('-- removed; the package itself: "npm uninstall --global throughline"');
    });
}

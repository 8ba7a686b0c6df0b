import { relative } from 'node:path';
import { Argument, type Command } from 'commander';
import {
  CONNECT_CLIENTS,
  CONNECT_NAMES,
  type ConnectClientName,
  type Scope,
  type Where,
} from '../agents/connect/client-table.js';
import { connectPlan, type FileChange, removePlan } from '../agents/connect/connect-plan.js';
import { installedProgram } from '../agents/connect/installed-program.js';
import type { ProjectFields } from '../agents/connect/project-file.js';
import { readerOf, writeChanges } from '../agents/connect/write-changes.js';
import { ThroughlineError } from '../contracts/errors.js';
import { token } from '../contracts/names.js';
import { counted } from '../shared/counted.js';
import { agreed, canAsk } from './agreed.js';
import { type Cli, cliOf, coloured, examples, note, out } from './command-context.js';
import { addConnectList } from './connect-list.js';
import { placeOf } from './connect-place.js';
import { plansIn } from './plan-places.js';
import { diffLines } from './show-diff.js';
import { offerServer } from './start-offer.js';

interface ConnectOptions extends ProjectFields {
  readonly remove?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly user?: boolean;
}

export function connectCommand(program: Command): void {
  const connect = program
    .command('connect')
    .description(
      'Writes hooks and the MCP server into the configuration of a coding agent: of this project, or with --user of all\n' +
        'your projects. Shows the exact change and asks first. Everything else in these files stays byte for byte.',
    )
    .addArgument(new Argument('[client]', 'the coding agent').choices(CONNECT_NAMES))
    .option('--remove', 'take out what connect wrote')
    .option('--user', 'for all your projects (default: this folder)')
    .option('--dry-run', 'show the change, and write nothing')
    .option('--yes', 'write without asking')
    .option('--session <name>', 'session of this project (default: the name of its folder)')
    .option('--project <name>', 'project of its learnings (default: the name of its folder)')
    .option('--plan <file>', 'its plan (default: the one that `init` finds)')
    .addHelpText(
      'after',
      examples(
        'throughline connect codex',
        'throughline connect claude --dry-run',
        'throughline connect claude --remove',
      ),
    )
    .action(async (client: ConnectClientName | undefined, options: ConnectOptions, command: Command) => {
      if (client === undefined) {
        throw new ThroughlineError(
          'usage',
          `which client? Name one of ${CONNECT_NAMES.join(', ')}, or "ls" to see them all`,
        );
      }
      const cli = cliOf(command);
      if (options.remove === true) await disconnect(cli, client, options);
      else await connectTo(cli, client, options);
    });
  addConnectList(connect);
}

async function connectTo(cli: Cli, client: ConnectClientName, options: ConnectOptions): Promise<void> {
  const { title, program, confirm } = CONNECT_CLIENTS[client];
  const scope = options.user === true ? 'user' : 'project';
  const { env } = cli.config;
  if (installedProgram(program, env) === undefined) {
    note(`-- ${title} is not installed here: "${program}" is not on your PATH. This takes effect once it is`);
  }
  if (installedProgram('throughline', env) === undefined) {
    note(
      '-- "throughline" is not on your PATH, so hooks cannot start it: run "npm link" or "npm install --global"',
    );
  }
  const place = placeOf(cli, scope);
  const plan = scope === 'project' ? await plainPlan(place.project) : undefined;
  const changes = connectPlan(client, place, readerOf(place), projectFields(options, scope), plan);
  if (changes.length === 0) note(`-- ${title} is connected already: nothing to change`);
  else if (!(await written(cli, changes, options, place))) return;
  for (const { path, backup, record } of changes)
    if (backup === 'make') note(`-- ${shown(path)} is kept as ${record.copy}`);
  for (const step of confirm(scope)) note(`-- to confirm: ${step}`);
  if (options.dryRun !== true) await offerServer(cli);
}

async function disconnect(cli: Cli, client: ConnectClientName, options: ConnectOptions): Promise<void> {
  const scope = options.user === true ? 'user' : 'project';
  const place = placeOf(cli, scope);
  const changes = removePlan(client, place, readerOf(place));
  if (changes.length > 0) await written(cli, changes, options, place);
  else
    note(
      `-- ${CONNECT_CLIENTS[client].title} is not connected ${scope === 'user' ? 'for you' : 'in this folder'}: nothing to take out`,
    );
}

/** Shows the changes, and writes them where that is wanted. */
async function written(
  cli: Cli,
  changes: readonly FileChange[],
  options: ConnectOptions,
  place: Where,
): Promise<boolean> {
  const inColour = coloured(cli);
  for (const { path, before, after } of changes)
    out(diffLines(shown(path), before, after, inColour), inColour);
  if (options.dryRun === true) {
    note(`-- ${counted(changes.length, 'file')} would change`);
    return false;
  }
  if (options.yes !== true) {
    if (!canAsk()) {
      throw new ThroughlineError(
        'usage',
        'there is no terminal to ask on: add --yes to write this, or --dry-run to look',
      );
    }
    if (!(await agreed(`Change ${counted(changes.length, 'file')}? [y/N] `))) {
      note('-- nothing was changed');
      return false;
    }
  }
  writeChanges(changes, place);
  const removed = changes.filter(({ after }) => after === undefined).length;
  const kept = changes.length - removed;
  if (kept > 0) note(`-- ${counted(kept, 'file')} written`);
  if (removed > 0) note(`-- ${counted(removed, 'file')} removed`);
  return true;
}

function projectFields({ session, project, plan }: ConnectOptions, scope: Scope): ProjectFields {
  if (scope === 'user' && (session ?? project ?? plan) !== undefined) {
    const flag = session !== undefined ? 'session' : project !== undefined ? 'project' : 'plan';
    throw new ThroughlineError('usage', `--${flag} is for one project: leave out --user, or the option`);
  }
  return {
    ...(session !== undefined && { session: token(session, '--session') }),
    ...(project !== undefined && { project }),
    ...(plan !== undefined && { plan }),
  };
}

/** The plan that needs no choice: the only one at a usual place, or else `tasks.md`. */
async function plainPlan(folder: string): Promise<string | undefined> {
  const plans = await plansIn(folder);
  return plans.length === 1 ? plans[0] : plans.find((path) => path === 'tasks.md');
}

/** A path as people read it: from here, where it lies below. */
function shown(path: string): string {
  const here = relative(process.cwd(), path);
  return here.startsWith('..') ? path : here;
}

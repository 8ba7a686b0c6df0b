import { resolve } from 'node:path';
import { PLAN_PLACES, plansIn } from '../agents/agent-session.js';
import { fileVersion } from '../config/ask-git.js';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { PLAN_REQUESTS } from '../contracts/plan-requests.js';
import { planAt } from '../engine/files/local-tasks-file.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { defined } from '../shared/collections.js';
import { shellWord } from '../shared/text.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { coloured, note, out, withClient } from './command-context.js';
import { addFields, requirePerson, shapeOf } from './request-command.js';
import { onSession, requireEvents, SESSION_DEFAULT, sessionFor } from './session-argument.js';
import { problemLine } from './show-plan.js';
import { shownStatus } from './status-command.js';

type FollowOptions = Flags<'json'> & Texts<'session' | 'spec' | 'goal'>;

export function planCommand(program: Command): void {
  const plan = program
    .command('plan')
    .description('A plan is a tasks.md, or another file of tasks, that a session follows.')
    .examples('throughline plan follow tasks.md -s demo', 'throughline plan unfollow demo');
  addFollow(plan);
  addUnfollow(plan);
}

function addFollow(plan: Command): void {
  const follow = plan
    .command('follow')
    .summary('follow a tasks.md: prompts then know what is done and what is left')
    .argument('[file]', 'path of the plan (default: the one at a usual place, such as tasks.md)')
    .description(
      'Reads a tasks.md and follows it: prompts know what is done and what is left. The same command again reads it again;\n' +
        'the goal stays unless a new one is given. A service that finds the same file, under THROUGHLINE_TASKS_ROOTS, reads later\n' +
        'changes too. Another one keeps the text that was sent, with the requirements.md or spec.md beside it.',
    )
    .option('-s, --session <name>', `session ${SESSION_DEFAULT}`);
  addFields(
    follow,
    shapeOf(PLAN_REQUESTS['run.init'].request.shape, (field) => ['spec', 'goal'].includes(field)),
  );
  follow
    .option('--json', 'print the reply as JSON')
    .examples(
      'throughline plan follow -s demo',
      'throughline plan follow specs/parser/tasks.md -s demo --spec parser --goal "A parser"',
    )
    .action(async (file: string | undefined, options: FollowOptions, command: Command) => {
      const { cli, session } = await sessionFor(command, false);
      const { spec, goal, json = false } = options;
      const named = spec === undefined ? '' : ` --spec ${shellWord(spec)}`;
      const tasks = file ?? usualPlan(`throughline plan follow -s ${session}${named}`);
      const version = fileVersion(resolve(tasks));
      const follow = (client: ThroughlineClient) =>
        client.runs.init({ session, spec, goal, version, ...planAt(tasks) });
      const reply = await withClient(cli, follow).catch((error: unknown) => {
        throw asTyped(error, tasks);
      });
      if (!json) for (const problem of reply.problems) note(`-- ${problemLine(problem)}`);
      const { commits: [newer] = [] } = reply.run?.version ?? {};
      if (!json && version?.commits[0] !== undefined && newer !== version.commits[0])
        note(`-- kept: the version of commit ${newer?.slice(0, 7)}, which comes after this one`);
      out(shownStatus(cli, reply, json), coloured(cli));
    });
}

function asTyped(error: unknown, tasks: string): unknown {
  if (!(error instanceof ThroughlineError)) return error;
  const message = error.message
    .replace(/^(?:tasksText|tasksPath)(?!\w)/, tasks)
    .replace(/^(spec|goal|session)(?=:)/, '--$1');
  const fix = error.code === 'progress_ledger_missing_tasks' ? OTHER_PLACE : '';
  return new ThroughlineError(error.code, message + fix, defined({ cause: error, details: error.details }));
}

const OTHER_PLACE =
  '. Correct the path, or leave it out: "plan follow" then looks for the plan at the usual places';

function addUnfollow(plan: Command): void {
  onSession(plan.command('unfollow'))
    .summary('follow no plan any more')
    .description(
      'Follows no plan any more: its tasks leave the session, and results stay. The file is not touched.',
    )
    .option('--json', 'print the reply as JSON')
    .examples('throughline plan unfollow demo')
    .action(async (_: string | undefined, { json = false }: { json?: boolean }, command: Command) => {
      requirePerson();
      const { cli, session } = await sessionFor(command);
      const reply = await withClient(cli, (client) => client.runs.init({ session, unfollow: true }));
      requireEvents(session, reply.sequence);
      out(shownStatus(cli, reply, json), coloured(cli));
    });
}

const SHOWN = 20;

/**
 * The plan to follow where none is named: the one that stands at a usual place.
 *
 * @param command the words of a command that names the plan, but for its path
 * @throws ThroughlineError `usage` where there is none, or several
 */
export function usualPlan(command: string, folder = process.cwd()): string {
  const found = plansIn(folder);
  const [only] = found;
  if (only === undefined)
    throw usageError(`no plan was found: name its file. Looked for ${PLAN_PLACES.join(', ')} in ${folder}`);
  if (found.length === 1) {
    note(`-- found ${only}`);
    return only;
  }
  const commands = found.slice(0, SHOWN).map((path) => `\n  ${command} ${shellWord(path)}`);
  const more = found.length > SHOWN ? `\n  and ${found.length - SHOWN} more` : '';
  throw usageError(`${found.length} plans were found: name one.${commands.join('')}${more}`);
}

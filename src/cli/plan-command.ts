import { readdir, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { ThroughlineError } from '../contracts/errors.js';
import { PLAN_STATUSES } from '../contracts/run-request.js';
import type { ToolArguments } from '../contracts/tool-requests.js';
import { oneLine, shellWord } from '../shared/text.js';
import { cliOf, examples, note, out, withClient } from './command-context.js';
import { atTerminal, canAsk } from './output.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import { planLines, planReply } from './show-plan.js';
import { watchSession } from './watching.js';

interface PlanOptions {
  readonly task?: string;
  readonly status?: NonNullable<ToolArguments<'plan-show'>['status']>;
  readonly json?: boolean;
  readonly watch?: boolean;
}

export function planCommand(program: Command): void {
  onSession(program.command('plan'))
    .description(
      'Shows the plan that a session follows: how far it is, what is next, each task with its status and what came of it,\n' +
        'what contradicts its results, and the lines that could not be read with certainty.',
    )
    .option('-t, --task <id>', 'only this task, with its requirements and its prompt')
    .addOption(new Option('--status <status>', 'only tasks of this status').choices(PLAN_STATUSES))
    .option('--json', 'print the reply as JSON')
    .option('-w, --watch', 'show it again each time that the session moves, until Ctrl-C')
    .addHelpText(
      'after',
      examples(
        'throughline plan demo',
        'throughline plan demo --status blocked',
        'throughline plan demo --task 2.1 --json',
        'throughline plan demo --watch',
      ),
    )
    .action(async (_: string | undefined, options: PlanOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const { task: id, status, json = false, watch } = options;
      const request = { session, ...(id !== undefined && { id }), ...(status !== undefined && { status }) };
      const show = async () => {
        const reply = await withClient(cli, (client) => client.requestTool('plan-show', request));
        requireEvents(session, reply.sequence);
        return json ? JSON.stringify(reply) : planLines(planReply.parse(reply)).join('\n');
      };
      if (watch) return watchSession(cli, { session, show, redraws: !json });
      out(await show());
    });
}

/** Where plans usually are, below the current folder; `*` is any folder. */
const PLACES = [
  '.kiro/specs/*/tasks.md',
  'specs/*/tasks.md',
  '.spec-workflow/specs/*/tasks.md',
  'openspec/changes/*/tasks.md',
  'tasks.md',
  '.taskmaster/tasks/tasks.json',
  'PLAN.md',
  'TODO.md',
] as const;

/** Plans that are shown where there are several. */
const SHOWN = 20;

/**
 * The plan to follow where none is named: the one that stands at a usual place. Of several, a person at a terminal chooses.
 *
 * @param command the words of a command that names the plan, but for its path
 * @throws ThroughlineError `usage` where there is none, or several and nobody to ask
 */
export async function usualPlan(command: string, folder = process.cwd()): Promise<string> {
  const found = await plansIn(folder);
  const [only] = found;
  if (only === undefined)
    throw new ThroughlineError(
      'usage',
      `no plan was found: give --tasks FILE. Looked for ${PLACES.join(', ')} in ${folder}`,
    );
  if (found.length === 1) {
    note(`-- found ${only}`);
    return only;
  }
  const chosen = await asked(found);
  if (chosen !== undefined) return chosen;
  const commands = found.slice(0, SHOWN).map((path) => `\n  ${command} ${shellWord(path)}`);
  const more = found.length > SHOWN ? `\n  and ${found.length - SHOWN} more` : '';
  throw new ThroughlineError(
    'usage',
    `${found.length} plans were found: name one by --tasks.${commands.join('')}${more}`,
  );
}

/** Paths of the plans at usual places, relative to the folder, in the order of the places. */
export async function plansIn(folder: string): Promise<string[]> {
  const found = await Promise.all(PLACES.map((place) => matches(folder, place.split('/'))));
  return found.flat().map((path) => relative(folder, path));
}

async function matches(folder: string, [part, ...rest]: readonly string[]): Promise<string[]> {
  if (part === undefined) return (await isFile(folder)) ? [folder] : [];
  // A name is looked up in the folder, so that `tasks.md` does not also match TASKS.md where the disk ignores case.
  const names = await readdir(folder).catch(() => []);
  const fitting = part === '*' ? names.sort() : names.filter((name) => name === part);
  return (await Promise.all(fitting.map((name) => matches(join(folder, name), rest)))).flat();
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

/** Asks the person at the terminal; `undefined` where there is none. */
async function asked(found: readonly string[]): Promise<string | undefined> {
  if (!canAsk()) return undefined;
  for (const [index, path] of found.entries()) note(`${String(index + 1).padStart(3)}  ${oneLine(path)}`);
  return atTerminal(async (ask) => {
    for (;;) {
      const said = (await ask(`Which plan, 1 to ${found.length}? `)).trim();
      const chosen = found[Number(said) - 1] ?? found.find((path) => path === said);
      if (chosen !== undefined) return chosen;
    }
  });
}

/** Whether a path is a file on this machine. */
export function isHere(path: string): Promise<boolean> {
  return isFile(resolve(path));
}

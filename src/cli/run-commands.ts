import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { checkedRequest } from '../contracts/checked.js';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import { sessionSettings } from '../contracts/session-settings.js';
import { foldedState } from '../services/common/open-sessions.js';
import { entriesOf } from '../services/tools/run-service.js';
import { runStatus } from '../session/run-status.js';
import { boardLine } from '../session/task-counts.js';
import { counted } from '../shared/counted.js';
import { clipText, oneLine } from '../shared/text.js';
import { cliOf, examples, note, out, sessionOf, withClient, withNats } from './command-context.js';
import { settingPair } from './option-parsers.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';

interface InitOptions {
  readonly session?: string;
  readonly spec: string;
  readonly tasks: string;
  readonly goal?: string;
  readonly settings?: Record<string, unknown>;
  readonly push?: boolean;
  readonly json?: boolean;
}

interface ReadOptions {
  readonly json?: boolean;
}

const problem = z.object({ code: z.string(), line: z.number(), message: z.string() });
const totals = z.object({
  total: z.number(),
  completed: z.number(),
  inProgress: z.number(),
  pending: z.number(),
});
const boardCounts = z.object({
  total: z.number(),
  cancelled: z.number(),
  completed: z.number(),
  in_progress: z.number(),
  ready: z.number(),
  waiting: z.number(),
  remaining: z.number(),
  blocked: z.number(),
});
const statusReply = z.object({
  session: z.object({ board: boardCounts }),
  run: z
    .object({
      spec: z.string(),
      goal: z.string().optional(),
      source: z.object({ kind: z.string(), path: z.string().optional() }),
      totals,
      active_task_id: z.string().nullable(),
      problems: z.number(),
    })
    .nullable(),
  tasks: z.array(
    z.object({
      task: z.string(),
      board: z.string().optional(),
      plan: z.string().optional(),
      dispatches: z.number(),
      last_outcome: z.string(),
      next_action: z.string(),
      required_fixes: z.number(),
      stalled: z.boolean(),
      replan_hint: z.string().optional(),
    }),
  ),
  unreadable: z.array(
    z.object({ task: z.string(), dispatch: z.number(), code: z.string(), reason: z.string() }),
  ),
  problems: z.array(problem).optional(),
  degraded: z.string().optional(),
  sequence: z.number(),
});

export function initCommand(program: Command): void {
  program
    .command('init')
    .description(
      'Reads a tasks.md and follows it: prompts know what is done and what is left.\n' +
        'The service reads the file itself, under THROUGHLINE_TASKS_ROOTS; with --push its text is sent instead.',
    )
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION)')
    .requiredOption('--spec <name>', 'name of the specification')
    .requiredOption('--tasks <file>', 'path of the tasks.md')
    .option('--goal <text>', 'goal of the run')
    .option(
      '--settings <key=value...>',
      'settings of its prompts, such as implementerTokens=8000',
      settingPair,
    )
    .option('--push', 'send the text of the file: for a service that cannot read it')
    .option('--json', 'print the reply as JSON')
    .addHelpText(
      'after',
      examples(
        'throughline init -s demo --spec parser --tasks specs/parser/tasks.md --goal "A parser"',
        'throughline init -s demo --spec parser --tasks tasks.md --push',
      ),
    )
    .action(async (options: InitOptions, command: Command) => {
      const cli = cliOf(command);
      const { spec, goal, tasks } = options;
      const settings = options.settings && checkedRequest(sessionSettings, options.settings);
      const source = options.push ? { tasksText: await textOf(tasks) } : { tasksPath: resolve(tasks) };
      const request = { session: sessionOf(cli, options.session), spec, goal, settings, ...source };
      const reply = await withClient(cli, (client) => client.initRun(request));
      if (options.json) return out(JSON.stringify(reply));
      const shown = statusReply.parse(reply);
      for (const { code, line, message } of shown.problems ?? [])
        note(`-- line ${line}: ${message} (${code})`);
      for (const line of statusLines(shown)) out(line);
    });
}

export function statusCommand(program: Command): void {
  onSession(program.command('status'))
    .description('Shows the totals of the tasks.md, and for each task with dispatches what came of them.')
    .option('--json', 'print the reply as JSON')
    .addHelpText('after', examples('throughline status demo', 'throughline status demo --json'))
    .action(async (_: string | undefined, options: ReadOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const reply = await withClient(cli, (client) => client.runStatus(session));
      requireEvents(session, reply.sequence);
      if (options.json) return out(JSON.stringify(reply));
      const shown = statusReply.parse(reply);
      for (const line of statusLines(shown)) out(line);
      if ((shown.run?.problems ?? 0) > 0) note('-- run "throughline init" again to see each such line');
    });
}

export function ledgerCommand(program: Command): void {
  onSession(program.command('ledger'))
    .description(
      'Prints the known entries of a task, ledger.task.* and ledger.progress.*, one per line. Without --task it lists the\n' +
        'tasks that have a ledger, each with its last outcome and what it needs next.',
    )
    .option('-t, --task <id>', 'id of the task (default: list the tasks)')
    .option('--json', 'print the entries as one JSON object, the list of tasks as one JSON array')
    .addHelpText(
      'after',
      examples(
        'throughline ledger demo',
        'throughline ledger demo --task 2.1',
        'throughline ledger demo -t 2.1 --json',
      ),
    )
    .action(async (_: string | undefined, options: ReadOptions & { task?: string }, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const state = await withNats(cli, (nats) => foldedState(nats, cli.logger, session));
      requireEvents(session, state.sequence);
      if (options.task === undefined) {
        const { tasks } = runStatus(state);
        if (options.json) return out(JSON.stringify(tasks));
        for (const task of tasks) for (const line of taskLines(task)) out(line);
        return note(`-- ${counted(tasks.length, 'task')} with a ledger`);
      }
      const entries = entriesOf(state, options.task);
      if (options.json) return out(JSON.stringify(entries));
      for (const [key, value] of Object.entries(entries)) {
        out(`${key}  ${typeof value === 'string' ? oneLine(value) : JSON.stringify(value)}`);
      }
      if (Object.keys(entries).length === 0) note(`-- nothing is known about task ${options.task}`);
    });
}

type ToldTask = z.infer<typeof statusReply>['tasks'][number];

function statusLines({ session, run, tasks, unreadable, degraded }: z.infer<typeof statusReply>): string[] {
  const lines: string[] = [];
  if (run === null) lines.push('no tasks.md: see `throughline init`');
  else {
    const { total, completed, inProgress, pending } = run.totals;
    lines.push(
      `${oneLine(run.spec)}${run.goal === undefined ? '' : `: ${clipText(oneLine(run.goal), 200)}`}`,
    );
    lines.push(
      `plan: ${completed} of ${counted(total, 'task')} completed, ${inProgress} in progress, ${pending} pending`,
    );
    lines.push(`active task: ${run.active_task_id ?? 'none'}`);
    if (run.problems > 0)
      lines.push(`${counted(run.problems, 'line')} of the tasks.md could not be understood`);
  }
  if (degraded !== undefined) lines.push(`the tasks.md cannot be read now: ${oneLine(degraded)}`);
  if (session.board.total > 0) lines.push(`board: ${boardLine(session.board)}`);
  for (const task of tasks) lines.push(...taskLines(task).map((line) => `  ${line}`));
  for (const { task, dispatch, code, reason } of unreadable)
    lines.push(
      `  ${oneLine(task)}  last result, dispatch ${dispatch}, could not be read: ${code}: ${oneLine(reason)}`,
    );
  return lines;
}

/** What came of a task, and why it is stalled where it is. */
function taskLines(progress: ToldTask): string[] {
  const { task, board, plan, dispatches, last_outcome, next_action, required_fixes, replan_hint } = progress;
  const stands = [board && `board: ${board}`, plan && `plan: ${plan}`].filter((where) => where !== undefined);
  const where = stands.length === 0 ? '' : ` (${stands.join(', ')})`;
  const fixes = required_fixes === 0 ? '' : `, ${counted(required_fixes, 'required fix', 'required fixes')}`;
  const came = `${last_outcome} → ${next_action}${fixes} (${counted(dispatches, 'dispatch', 'dispatches')})`;
  return [
    `${oneLine(task)}${where}  ${came}`,
    ...(replan_hint === undefined ? [] : [`  stalled: ${oneLine(replan_hint)}`]),
  ];
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new ThroughlineError('progress_ledger_missing_tasks', `--tasks ${file}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

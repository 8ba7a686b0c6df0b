import { resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { checkedRequest } from '../contracts/checked.js';
import { ThroughlineError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import type { RunStatusReply } from '../contracts/replies/run-reply.js';
import { sessionSettings } from '../contracts/session-meta-events.js';
import { readPlan } from '../engine/files/local-tasks-file.js';
import { specNameOf } from '../ledger/progress-ledger.js';
import { boardLine } from '../memory/session/task-counts.js';
import type { Tools } from '../sdk/tool-methods.js';
import { counted, oneLine, shellWord } from '../shared/text.js';
import { type Cli, cliOf, examples, note, out, sessionOf, withClient } from './command-context.js';
import { settingPair } from './option-parsers.js';
import { isHere, usualPlan } from './plan-command.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import {
  degradedLine,
  NO_PLAN,
  planNumberLines,
  planNumbers,
  problem,
  problemLine,
  problemsCounted,
} from './show-plan.js';
import { ledgerLines, ledgerListLines, progressLines } from './show-query.js';
import { versionOf, watchSession } from './watching.js';

interface InitOptions {
  readonly session?: string;
  readonly spec?: string;
  readonly tasks?: string;
  readonly goal?: string;
  readonly settings?: Record<string, unknown>;
  readonly push?: boolean;
  readonly json?: boolean;
  readonly watch?: boolean;
}

interface ReadOptions {
  readonly json?: boolean;
  readonly watch?: boolean;
}

const WATCH = ['-w, --watch', 'show it again each time that the session moves, until Ctrl-C'] as const;

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
  run: planNumbers.nullable(),
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
      'Reads a tasks.md and follows it: prompts know what is done and what is left. Again, it keeps the goal unless a new one\n' +
        'is given. The service reads the file itself, under THROUGHLINE_TASKS_ROOTS; with --push its text is sent instead.',
    )
    .option('-s, --session <name>', 'session (default: THROUGHLINE_SESSION, else .throughline.json)')
    .option(
      '--spec <name>',
      "name of the specification (default: the one before, else that of the file's folder)",
    )
    .option('--tasks <file>', 'path of the plan (default: the one at a usual place, such as tasks.md)')
    .option('--goal <text>', 'goal of the run')
    .option(
      '--settings <key=value...>',
      'settings of its prompts, such as implementerTokens=8000',
      settingPair,
    )
    .option('--push', 'send the text of the file: for a service that cannot read it')
    .option('--json', 'print the reply as JSON')
    .option('-w, --watch', 'read the file again when it changes, and show it each time, until Ctrl-C')
    .addHelpText(
      'after',
      examples(
        'throughline init -s demo',
        'throughline init -s demo --spec parser --tasks specs/parser/tasks.md --goal "A parser"',
        'throughline init -s demo --spec parser --tasks tasks.md --push',
      ),
    )
    .action(async (options: InitOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionOf(cli, options.session);
      const { goal, json = false } = options;
      const settings = options.settings && checkedRequest(sessionSettings, options.settings);
      const spec = options.spec === undefined ? '' : ` --spec ${shellWord(options.spec)}`;
      const again = `throughline init -s ${session}${spec}${options.push ? ' --push' : ''} --tasks`;
      const tasks = options.tasks ?? (await usualPlan(again));
      const init = async () => {
        const named = options.spec ?? (options.push ? specNameOf(resolve(tasks)) : undefined);
        const source = options.push ? { tasksText: textOf(tasks) } : { tasksPath: resolve(tasks) };
        const request = { session, spec: named, goal, settings, ...source };
        return withClient(cli, (client) => client.initRun(request)).catch(async (error: unknown) => {
          throw options.push
            ? asTyped(error, tasks)
            : await withFix(asTyped(error, tasks), tasks, `${again} ${shellWord(tasks)} --push`);
        });
      };
      const version = await versionOf(tasks);
      const reply = await init();
      if (!json) {
        for (const each of statusReply.parse(reply).problems ?? []) note(`-- ${problemLine(each)}`);
      }
      if (options.watch) {
        const show = async () => shownStatus(await statusOf(cli, session), json);
        // A file that the service reads itself is read again with each status.
        const changed = async () => void (options.push && (await init()));
        const file = { path: resolve(tasks), version, changed };
        return watchSession(cli, { session, show, file, redraws: !json });
      }
      out(shownStatus(reply, json));
    });
}

/** An error that names the options that were typed, not the fields of the request. */
function asTyped(error: unknown, tasks: string): unknown {
  if (!(error instanceof ThroughlineError)) return error;
  const message = error.message
    .replace(/^(?:tasksText|tasksPath)(?!\w)/, `--tasks ${tasks}`)
    .replace(/^(spec|goal|session)(?=:)/, '--$1');
  const known = message.startsWith(resolve(tasks)) ? `--tasks ${message}` : message;
  const { details } = error;
  return new ThroughlineError(error.code, known, { cause: error, ...(details !== undefined && { details }) });
}

/** A file that is here, but not for the service, can be sent; one that is nowhere may be another one. */
async function withFix(error: unknown, tasks: string, command: string): Promise<unknown> {
  if (!(error instanceof ThroughlineError) || error.code !== 'progress_ledger_missing_tasks') return error;
  const fix = (await isHere(tasks)) ? `. To send its text instead: ${command}` : `. ${OTHER_PLACE}`;
  return new ThroughlineError(error.code, `${error.message}${fix}`, { cause: error });
}

const OTHER_PLACE =
  'Correct the path, or leave --tasks out: init then looks for the plan at the usual places';

export function statusCommand(program: Command): void {
  onSession(program.command('status'))
    .description('Shows the totals of the tasks.md, and for each task with dispatches what came of them.')
    .option('--json', 'print the reply as JSON')
    .option(...WATCH)
    .addHelpText(
      'after',
      examples(
        'throughline status demo',
        'throughline status demo --json',
        'throughline status demo --watch',
      ),
    )
    .action(async (_: string | undefined, { json = false, watch }: ReadOptions, command: Command) => {
      const cli = cliOf(command);
      const session = sessionGiven(cli, command);
      const show = async () => {
        const reply = await statusOf(cli, session);
        requireEvents(session, reply.sequence);
        return { reply, text: shownStatus(reply, json) };
      };
      if (watch) return watchSession(cli, { session, show: async () => (await show()).text, redraws: !json });
      const { reply, text } = await show();
      out(text);
      if (!json && reply.run !== null && problemsCounted(reply.run) !== '')
        note(`-- "throughline plan ${session}" shows each such line`);
    });
}

function statusOf(cli: Cli, session: Token): Promise<RunStatusReply> {
  return withClient(cli, (client) => client.runStatus(session));
}

function shownStatus(reply: object, json: boolean): string {
  return json ? JSON.stringify(reply) : statusLines(statusReply.parse(reply)).join('\n');
}

export function ledgerCommand(program: Command): void {
  onSession(program.command('ledger'))
    .description(
      'Prints the known entries of a task, ledger.task.* and ledger.progress.*, one per line. Without --task it lists the\n' +
        'tasks that have a ledger, each with its last outcome and what it needs next.',
    )
    .option('-t, --task <id>', 'id of the task (default: list the tasks)')
    .option('--json', 'print the entries as one JSON object, the list of tasks as one JSON array')
    .option(...WATCH)
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
      const { task, json = false, watch } = options;
      const show = async () => {
        return withClient(cli, ({ tools }) =>
          task === undefined ? ledgerList(tools, session, json) : ledgerOf(tools, session, task, json),
        );
      };
      const shown = ({ text, remark }: LedgerShown) =>
        [text, remark].filter((each) => each !== '').join('\n');
      if (watch) return watchSession(cli, { session, show: async () => shown(await show()), redraws: !json });
      const { text, remark } = await show();
      if (text !== '') out(text);
      if (remark !== '') note(remark);
    });
}

/** The answer, and what is said beside it. */
interface LedgerShown {
  readonly text: string;
  readonly remark: string;
}

async function ledgerList({ ledgerList: ask }: Tools, session: Token, json: boolean): Promise<LedgerShown> {
  const { tasks, sequence } = await ask({ session });
  requireEvents(session, sequence);
  if (json) return { text: JSON.stringify(tasks), remark: '' };
  return {
    text: ledgerListLines({ tasks }).join('\n'),
    remark: `-- ${counted(tasks.length, 'task')} with a ledger`,
  };
}

async function ledgerOf(
  { ledgerShow: ask }: Tools,
  session: Token,
  task: string,
  json: boolean,
): Promise<LedgerShown> {
  const { entries, remark, sequence } = await ask({ session, task });
  requireEvents(session, sequence);
  const hasOwn = Object.keys(entries).some((key) => key.startsWith('ledger.task.'));
  const none = hasOwn ? '' : `-- task ${task} has no ledger yet: its first result opens one`;
  const said = remark === undefined ? none : `-- ${remark}`;
  // With JSON, only what helps: tasks of a like name.
  if (json) return { text: JSON.stringify(entries), remark: said.includes(';') ? said : '' };
  return { text: ledgerLines({ entries }).join('\n'), remark: said };
}

function statusLines({ session, run, tasks, unreadable, degraded }: z.infer<typeof statusReply>): string[] {
  const lines: string[] = run === null ? [NO_PLAN] : planNumberLines(run);
  const problems = run === null ? '' : problemsCounted(run);
  if (problems !== '') lines.push(`tasks.md: ${problems}`);
  if (degraded !== undefined) lines.push(degradedLine(degraded));
  if (session.board.total > 0) lines.push(`board: ${boardLine(session.board)}`);
  for (const task of tasks) lines.push(...progressLines(task).map((line) => `  ${line}`));
  for (const { task, dispatch, code, reason } of unreadable)
    lines.push(
      `  ${oneLine(task)}  last result, dispatch ${dispatch}, could not be read: ${code}: ${oneLine(reason)}`,
    );
  return lines;
}

function textOf(file: string): string {
  const text = readPlan(file);
  if (typeof text === 'string') return text;
  throw new ThroughlineError(
    'progress_ledger_missing_tasks',
    `--tasks ${file}: ${text.fault}. ${OTHER_PLACE}`,
  );
}

import { type Command, Option } from 'commander';
import { hasProjectFile } from '../agents/agent-session.js';
import { injectedTokens } from '../agents/hooks/hook-state.js';
import { stateDirOf } from '../config/config.js';
import type { Token } from '../contracts/names.js';
import type { ToolReply } from '../contracts/replies/replies.js';
import type { RunInitReply, RunStatusReply } from '../contracts/replies/run-reply.js';
import { boardLine } from '../memory/session/task-counts.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted, oneLine } from '../shared/text.js';
import { type Cli, cliOf, examples, note, out, withClient } from './command-context.js';
import { onSession, requireEvents, sessionGiven } from './session-argument.js';
import { degradedLine, NO_PLAN, planNumberLines, problemsCounted } from './show-plan.js';
import { ledgerLines, progressLines, sessionLines } from './show-reply.js';
import { WATCH, watchSession } from './watching.js';

interface StatusOptions {
  readonly session?: string;
  readonly task?: string;
  readonly json?: boolean;
  readonly watch?: boolean;
}

/** The answer, and a remark beside it. */
interface Shown {
  readonly text: string;
  readonly remark?: string | undefined;
}

/** Sessions that the status of the installation names. */
const NAMED = 10;

export function statusCommand(program: Command): void {
  onSession(program.command('status'))
    .description(
      'Without a session it shows the installation: its services, and the sessions that need a person or moved last. With a\n' +
        'session it shows the run: the totals of its plan and board, and for each task with results its outcome and what it\n' +
        'needs next. With --task it shows every entry of the ledger of that task.',
    )
    .option('-t, --task <id>', 'show the ledger of this task, of the board or the plan')
    .addOption(new Option('--json', 'print the reply as JSON; with --task its entries'))
    .option(...WATCH)
    .addHelpText(
      'after',
      examples(
        'throughline status',
        'throughline status demo',
        'throughline status demo --task 2.1',
        'throughline status demo --watch',
      ),
    )
    .action(async (argument: string | undefined, options: StatusOptions, command: Command) => {
      const cli = cliOf(command);
      const { task, json = false, watch } = options;
      const named = argument ?? options.session ?? cli.config.session;
      if (named === undefined && task === undefined && watch !== true && !hasProjectFile(process.cwd()))
        return showInstallation(cli, json);
      const session = sessionGiven(cli, command);
      const show = (): Promise<Shown> =>
        withClient(cli, (client) =>
          task === undefined ? runOf(client, session, json) : ledgerOf(client, session, task, json),
        );
      if (watch) {
        const joined = async () => {
          const { text, remark } = await show();
          return [text, remark ?? ''].filter((each) => each !== '').join('\n');
        };
        return watchSession(cli, { session, show: joined, redraws: !json });
      }
      const { text, remark } = await show();
      if (text !== '') out(text);
      if (remark !== undefined) note(remark);
    });
}

async function showInstallation(cli: Cli, json: boolean): Promise<void> {
  const { health, list, proposed } = await withClient(cli, async ({ tools, proposals }) => ({
    health: await tools.healthShow({ brief: true }),
    list: await tools.sessionList({ limit: NAMED }),
    // Without a learnings service, or the permission to ask it, nothing is known of proposals.
    proposed: await proposals.list({ status: 'pending', limit: 1 }).then(
      ({ total }) => total,
      () => 0,
    ),
  }));
  const injected = injectedTokens(stateDirOf(cli.config.env), new Date());
  if (json) return out(JSON.stringify({ ...health, injected, sessions: list.sessions, total: list.total }));
  for (const line of installationLines(health)) out(line);
  if (injected > 0) out(`hooks: ${counted(injected, 'token')} given to agents in the last day`);
  if (proposed > 0)
    out(`needs you: ${counted(proposed, 'proposal')} to review: "throughline learning review"`);
  for (const line of sessionLines(list.sessions, undefined, 'no figures yet')) out(line);
  const more = list.total - list.sessions.length;
  if (list.total === 0)
    note('-- no sessions yet: one begins with its first result, as "throughline publish" sends it');
  else
    note(
      `-- ${counted(list.total, 'session')}${more > 0 ? ': "throughline session ls" lists them all' : ''}; "throughline status NAME" shows one`,
    );
}

function installationLines(health: ToolReply<'health-show'>): string[] {
  const { services, dispatches, rejected = 0 } = health;
  const names = [...new Set(services.map(({ service }) => service))].sort();
  const waiting = Math.max(
    0,
    ...(dispatches?.consumers ?? []).map(({ pending, unacked }) => pending + unacked),
  );
  return [
    `services: ${names.length === 0 ? 'none answers' : names.join(', ')}`,
    ...(dispatches === undefined
      ? []
      : [`results: ${dispatches.stored} stored, ${waiting} in flight, ${rejected} rejected`]),
  ];
}

async function runOf(client: ThroughlineClient, session: Token, json: boolean): Promise<Shown> {
  const reply = await client.runStatus(session);
  requireEvents(session, reply.sequence);
  const hasProblems = !json && reply.run !== null && problemsCounted(reply.run) !== '';
  return {
    text: shownStatus(reply, json),
    ...(hasProblems && { remark: `-- "throughline plan show ${session}" shows each such line` }),
  };
}

/** The status of a run, as `plan follow` shows it as well. */
export function shownStatus(reply: RunStatusReply | RunInitReply, json: boolean): string {
  return json ? JSON.stringify(reply) : statusLines(reply).join('\n');
}

async function ledgerOf(
  { tools }: ThroughlineClient,
  session: Token,
  task: string,
  json: boolean,
): Promise<Shown> {
  const { entries, remark, sequence } = await tools.ledgerShow({ session, task });
  requireEvents(session, sequence);
  const hasOwn = Object.keys(entries).some((key) => key.startsWith('ledger.task.'));
  const none = hasOwn ? undefined : `-- task ${task} has no ledger yet: its first result opens one`;
  const said = remark === undefined ? none : `-- ${remark}`;
  // Beside JSON only a remark that helps: one that names similar tasks.
  if (json) return { text: JSON.stringify(entries), remark: said?.includes(';') ? said : undefined };
  return { text: ledgerLines({ entries }).join('\n'), remark: said };
}

function statusLines(reply: RunStatusReply | RunInitReply): string[] {
  const { session, run, tasks, unreadable, waiting } = reply;
  const lines: string[] = run === null ? [NO_PLAN] : planNumberLines(run);
  const problems = run === null ? '' : problemsCounted(run);
  if (problems !== '') lines.push(`tasks.md: ${problems}`);
  if ('degraded' in reply && reply.degraded !== undefined) lines.push(degradedLine(reply.degraded));
  if (session.board.total > 0) lines.push(`board: ${boardLine(session.board)}`);
  if (waiting.length > 0) lines.push(`needs you: ${waiting.map(oneLine).join('; ')}`);
  for (const task of tasks) lines.push(...progressLines(task).map((line) => `  ${line}`));
  for (const { task, dispatch, code, reason } of unreadable)
    lines.push(`  ${oneLine(task)}  last result ${dispatch} could not be read: ${code}: ${oneLine(reason)}`);
  return lines;
}

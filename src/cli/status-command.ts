import { Option } from 'commander';
import { hasProjectFile } from '../agents/agent-session.js';
import { serverText } from '../config/user-server.js';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import type { RunInitReply, RunStatusReply } from '../contracts/plan-requests.js';
import { PLAN_STATUSES } from '../contracts/plan-requests.js';
import type { ToolReply } from '../contracts/requests.js';
import type { TimelineEntry } from '../contracts/result-requests.js';
import { boardLine } from '../memory/session/task-board.js';
import { learningsCommand } from '../prompt/fill-prompt.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { age, counted, quoted } from '../shared/text.js';
import { cameText, sectionName, spaced, stallText, statusText } from '../shared/wire-words.js';
import { answerCommand } from '../work/task-step.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { type Cli, cliOf, coloured, note, out, withClient, withConnection } from './command-context.js';
import { inLine, table } from './output.js';
import { onSession, projectIn, requireEvents, usualSession } from './session-argument.js';
import {
  degradedLines,
  NO_PLAN,
  planLines,
  planNumberLines,
  planTaskLines,
  problemsCounted,
} from './show-plan.js';
import {
  type Colors,
  coloursOf,
  sessionLines,
  TIMELINE_HEADINGS,
  timelineCells,
  toned,
  USUAL_KINDS,
} from './show-reply.js';
import { hookRemarks } from './unsent-command.js';

interface StatusOptions extends Flags<'plan' | 'size' | 'all' | 'json'>, Texts<'session' | 'task'> {
  readonly status?: (typeof PLAN_STATUSES)[number];
}

interface Shown {
  /** What comes first: the server in use. */
  readonly lead?: string;
  readonly text: string;
  readonly remark?: string | undefined;
}

const NAMED = 10;

export function statusCommand(program: Command): void {
  onSession(program.command('status'))
    .description(
      'Without a session it shows the installation: its services, who works now, and the sessions that need a person or\n' +
        'moved last. With a session it shows on one screen how far its plan and board are, what needs a person, what reviews\n' +
        'found, who works now, its tasks, and what happened last. With --plan it shows the tasks of the plan as a tree, with\n' +
        '--task what the ledger and the plan say of a task.',
    )
    .option(
      '-t, --task <id>',
      'show the ledger of this task, of the board or the plan, and its words in the plan',
    )
    .addOption(new Option('--plan', 'show the tasks of the plan, and what came of each').conflicts('task'))
    .choice('--status <status>', 'with --plan: only tasks with this status', PLAN_STATUSES)
    .addOption(
      new Option('--all', 'show the installation, also in a folder that is connected').conflicts([
        'plan',
        'task',
        'session',
      ]),
    )
    .option('--size', 'show how much is stored, what grows, and what may go')
    .option('--json', 'print the reply as JSON; with --task its part about the task')
    .examples(
      'throughline status',
      'throughline status demo',
      'throughline status --size',
      'throughline status demo --task 2.1',
      'throughline status demo --plan --status blocked',
    )
    .action(async (argument: string | undefined, options: StatusOptions, command: Command) => {
      const cli = cliOf(command);
      const { task, plan, status, json = false } = options;
      if (options.size) return showSize(cli, json);
      if (status !== undefined && !plan) throw usageError('--status is for the tasks of a plan: add --plan');
      const named = argument ?? options.session ?? cli.config.session;
      if (options.all && argument !== undefined)
        throw usageError('--all shows the installation: name no session');
      const isOfFolder = task !== undefined || plan || hasProjectFile(process.cwd());
      const isWhole = options.all || (named === undefined && !isOfFolder);
      const session = isWhole ? undefined : await usualSession(cli, command);
      const { lead, text, remark } = await (session === undefined
        ? installation(cli, json)
        : withClient(cli, async (client): Promise<Shown> => {
            if (task === undefined && !plan)
              return runOf(cli, client, session, { json, isOfFolder: named === undefined });
            const lists = plan ? (['plan'] as const) : undefined;
            const reply = await client.runs.status({ session, task, lists: lists && [...lists], status });
            requireEvents(session, reply.sequence);
            if (task !== undefined) return taskOf(reply, task, json);
            return { text: json ? JSON.stringify(reply) : planLines(reply).join('\n') };
          }));
      if (lead !== undefined) note(lead);
      if (text !== '') out(text, coloured(cli));
      if (remark !== undefined) note(remark);
    });
}

/** Says what a stream holds and what makes it smaller. The first entry that fits its name counts. */
const STORED: readonly (readonly [stream: RegExp, holds: string, less: string])[] = [
  [/^DISPATCH$/, 'results as they came', '"session rm" of a session takes them with it'],
  [/^SESSIONS?_/, 'events of sessions', '"session archive" keeps only the state, "session rm" nothing'],
  [/^KV_session_snapshots$/, 'states of sessions', '"session rm"'],
  [/^PROMPTS$/, 'prompts', 'the newest 200 of a session stay, for 30 days'],
  [/^DISPATCH_REJECTED$/, 'rejected results', '"result rm", "result retry"'],
  [/^LEARNINGS$/, 'learnings and proposals', 'stay'],
  [/^KV_/, 'indexes and counters', 'go with their sessions'],
];

async function showSize(cli: Cli, json: boolean): Promise<void> {
  const { streamSizes } = await import('../nats/doctor/stream-findings.js');
  const sizes = await withConnection(cli, streamSizes);
  const kinds = STORED.map(([, holds, less]) => ({ holds, streams: 0, messages: 0, bytes: 0, less }));
  for (const { stream, messages, bytes } of sizes) {
    const kind = kinds[STORED.findIndex(([name]) => name.test(stream))];
    if (kind === undefined) continue;
    kind.streams += 1;
    kind.messages += messages;
    kind.bytes += bytes;
  }
  const found = kinds.sort((a, b) => b.bytes - a.bytes);
  if (json) return out(JSON.stringify(found));
  const rows = found.map(({ holds, messages, bytes, less }) => [holds, String(messages), mb(bytes), less]);
  out(
    table(['HOLDS', 'MESSAGES', 'SIZE', 'WHAT MAKES IT SMALLER'], rows, coloursOf(cli).dim).join('\n'),
    coloured(cli),
  );
  const total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  note(`-- ${mb(total)} in all; "throughline admin retention set archive --after 90d" makes room by itself`);
}

function mb(bytes: number): string {
  return bytes < 5e4 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

async function installation(cli: Cli, json: boolean): Promise<Shown> {
  const server = serverText(cli.server);
  const known = await withClient(cli, async ({ tools, proposals }) => ({
    health: await tools.healthShow({}),
    list: await tools.sessionList({ limit: NAMED }),
    // Without a learnings service, or the permission to ask it, nothing is known of proposals.
    proposed: await proposals
      .list({ ...projectIn(cli, {}), status: 'pending', limit: 1 })
      .catch(() => undefined),
  })).catch((error: unknown) => {
    // One who may not listen for replies can do nothing.
    if (!(error instanceof ThroughlineError && error.details?.operation === 'publish')) throw error;
  });
  if (known === undefined)
    return {
      text: json ? JSON.stringify({ server }) : `server: ${server}`,
      remark: '-- your access is for some sessions only: "throughline status NAME" shows one of them',
    };
  const { health, list, proposed } = known;
  const { sessions, total } = list;
  if (json) return { text: JSON.stringify({ server, ...health, sessions, total }) };
  const pc = coloursOf(cli);
  const now = new Date().toISOString();
  const working = sessions.flatMap((session) =>
    session.brief ? [] : session.working.map((claim) => workingLine(pc, claim, now, session.session)),
  );
  const lines = [
    `server: ${server}`,
    ...installationLines(health),
    ...hookRemarks(cli),
    ...(proposed !== undefined && proposed.total > 0 ? [proposalsLine(pc, proposed)] : []),
    ...section(pc, 'Working now', working),
    ...(sessions.length === 0 ? [] : ['', ...sessionLines(pc, sessions, now, 'no figures yet')]),
  ];
  const more = total > sessions.length ? ': "throughline session ls" lists them all' : '';
  const remark =
    total === 0
      ? '-- no sessions yet: one begins with its first result, as "throughline publish" sends it'
      : `-- ${counted(total, 'session')}${more}; "throughline status NAME" shows one`;
  return { text: lines.join('\n'), remark };
}

function proposalsLine(pc: Colors, { total, project }: { total: number; project: string }): string {
  const command = learningsCommand('throughline', project);
  return `${pc.yellow('needs you:')} ${counted(total, 'proposal')} to review: "${command}"`;
}

function installationLines({ services, results }: ToolReply<'health-show'>): string[] {
  const names = [...new Set(services.map(({ service }) => service))].sort();
  const { stored, waiting, rejected } = results ?? {};
  return [
    `services: ${names.length === 0 ? 'none answers' : names.join(', ')}`,
    ...(results ? [`results: ${stored} stored, ${waiting} in flight, ${rejected} rejected`] : []),
  ];
}

/** @param of `isOfFolder`: the session is that of the folder, and not one that was named */
async function runOf(
  cli: Cli,
  client: ThroughlineClient,
  session: Token,
  of: { readonly json: boolean; readonly isOfFolder: boolean },
): Promise<Shown> {
  const reply = await client.runs.status({ session });
  const isNew = reply.sequence === 0 && of.isOfFolder && hasProjectFile(process.cwd());
  if (!isNew) requireEvents(session, reply.sequence);
  if (of.json) return { text: JSON.stringify(reply) };
  const about = [`server: ${serverText(cli.server)}`, ...hookRemarks(cli)];
  const lead = about.map((line) => `-- ${line}`).join('\n');
  if (isNew) return { lead, text: `${session}: connected; nothing stored yet` };
  const { entries } = await client.tools.timelineList({ session, limit: LAST, kinds: USUAL_KINDS });
  const hasProblems = reply.run !== null && problemsCounted(reply.run) !== '';
  const remark = hasProblems ? `-- "throughline status ${session} --plan" shows each such line` : undefined;
  const pc = coloursOf(cli);
  const text = [...statusLines(pc, reply, entries), ...(await elsewhere(client, session, of, pc))].join('\n');
  return { lead, text, remark };
}

/** Lists what waits for a person in other sessions, below the session of a folder. */
async function elsewhere(
  { tools }: ThroughlineClient,
  session: Token,
  { isOfFolder }: { readonly isOfFolder: boolean },
  pc: Colors,
): Promise<string[]> {
  // Sessions that wait come first. A user who is bound to sessions may not list them.
  const list = isOfFolder ? await tools.sessionList({ limit: NAMED }).catch(() => undefined) : undefined;
  const waiting = (list?.sessions ?? []).flatMap((other) =>
    other.brief || other.session === session
      ? []
      : other.waiting.map((what) => `${other.session}  ${quoted(what)}`),
  );
  return section(pc, 'In other sessions', waiting);
}

export function shownStatus(cli: Cli, reply: RunStatusReply | RunInitReply, json: boolean): string {
  return json ? JSON.stringify(reply) : statusLines(coloursOf(cli), reply).join('\n');
}

/**
 * @param reply to a request for one task
 * @throws ThroughlineError `not_found` for a task that neither board, plan nor a result names
 */
function taskOf({ task: shown }: RunStatusReply, task: string, json: boolean): Shown {
  const { entries = {}, remark, ...words } = shown ?? {};
  if (remark !== undefined && Object.keys(entries).length === 0)
    throw new ThroughlineError('not_found', remark);
  const hasLedger = Object.keys(entries).some((key) => key.startsWith('ledger.task.'));
  const none = hasLedger ? undefined : `-- task ${task} has no ledger yet: its first result opens one`;
  const line = remark === undefined ? none : `-- ${remark}`;
  // Beside JSON only a remark that helps: one that names similar tasks.
  if (json) return { text: JSON.stringify(shown), remark: line?.includes(';') ? line : undefined };
  return { text: [...ledgerLines(entries), ...planTaskLines(words)].join('\n'), remark: line };
}

/** Entries that another line says, or that only programs need. */
const HIDDEN = [
  ...['last_outcome', 'next_action', 'reviewer_assessment', 'stalled_count', 'stall_signals', 'plan_version'],
  'source_fingerprint',
];

function ledgerLines(entries: Readonly<Record<string, unknown>>): string[] {
  const { 'ledger.task.last_outcome': came, 'ledger.task.next_action': next } = entries;
  const lines = Object.entries(entries).flatMap(([key, value]) => {
    const name = key.replace(/^.*\./, '');
    if (HIDDEN.includes(name)) return [];
    const title = sectionName(name.replace(/_id$/, ''));
    const texts = [value].flat().map(inWords);
    return texts.length === 1
      ? [`${title}: ${texts[0]}`]
      : [`${title}:`, ...texts.map((text) => `  ${text}`)];
  });
  return [...(typeof came === 'string' ? [cameText(came, String(next))] : []), ...lines];
}

function inWords(value: unknown): string {
  if (typeof value !== 'object' || value === null) return quoted(stallText(String(value)));
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  return Object.entries(value)
    .map(([field, inner]) => `${spaced(field)}: ${inWords(inner)}`)
    .join('; ');
}

/** Lines of the screen that its lists may have: events, and tasks with results. */
const LAST = 5;
const MAX_TASKS = 12;
/** A longer id is not aligned. */
const MAX_ID = 16;

function statusLines(pc: Colors, reply: RunStatusReply | RunInitReply, last?: readonly TimelineEntry[]) {
  const { session, run, tasks, unreadable, waiting, asks, findings, working } = reply;
  const now = new Date().toISOString();
  const problems = run === null ? '' : problemsCounted(run);
  const title = session.title === undefined ? '' : `  ${quoted(session.title)}`;
  const { started_at: began, last_event_at: at } = session;
  const moved = began && at ? pc.dim(`  began ${age(began, now)}, moved ${age(at, now)}`) : '';
  const state = session.archived === undefined ? session.status : 'archived';
  // Those that are done stand behind those that are not.
  const rank = ({ next_action: next }: (typeof tasks)[number]) => Number(next === 'next_task');
  const shown = tasks.toReversed().sort((a, b) => rank(a) - rank(b));
  const first = shown.slice(0, MAX_TASKS);
  const left = shown.length - first.length;
  const width = Math.min(MAX_ID, Math.max(0, ...first.map(({ task }) => task.length)));
  const needs = waiting.map((what, at) => {
    const ask = asks[at];
    return `${quoted(what)}${ask === undefined ? '' : `  (${answerCommand(ask.task, session.name)})`}`;
  });
  const claims = working.map((claim) => workingLine(pc, claim, now));
  const rows = (last ?? []).map((entry) => [age(entry.at, now), ...timelineCells(pc, entry).slice(1)]);
  return [
    ...(last === undefined ? [] : [`${pc.bold(session.name)}  ${state}${title}${moved}`]),
    ...(run !== null ? planNumberLines(run) : session.board.total === 0 ? [NO_PLAN] : []),
    ...(problems === '' ? [] : [`tasks.md: ${problems}`]),
    ...degradedLines('degraded' in reply ? reply.degraded : undefined),
    ...(session.board.total > 0 ? [`board: ${boardLine(session.board)}`] : []),
    ...(session.dropped
      ? [`facts: ${session.facts} hold; ${session.dropped} of least use are gone, as the session is full`]
      : []),
    ...section(pc, 'Needs you', needs),
    ...section(pc, `Open findings (${findings.total})`, findings.newest.map(quoted)),
    ...section(pc, 'Working now', claims),
    ...section(pc, 'Tasks with results', [
      ...first.flatMap((task) => progressLines(pc, task, width)),
      ...(left > 0 ? [`${left} more: "throughline status ${session.name} --plan" shows all of a plan`] : []),
      ...unreadable.map(
        ({ task, dispatch, code, reason }) =>
          `${quoted(task)}  last result ${dispatch} could not be read: ${code}: ${quoted(reason)}`,
      ),
    ]),
    ...section(pc, 'Last', table(TIMELINE_HEADINGS, rows, pc.dim).slice(1)),
  ];
}

function progressLines(pc: Colors, progress: RunStatusReply['tasks'][number], width: number): string[] {
  const { task, board, plan, dispatches, last_outcome, next_action, required_fixes, replan_hint } = progress;
  const stands = [board && `board: ${statusText(board)}`, plan && `plan: ${statusText(plan)}`].filter(
    (where) => where !== undefined,
  );
  const fixes = required_fixes === 0 ? '' : `, ${counted(required_fixes, 'required fix', 'required fixes')}`;
  const verdict = last_outcome.replace(/^[a-z]+_/, '');
  const cell = toned(pc, verdict, cameText(last_outcome, next_action));
  const outcome = `${inLine([cell])}${fixes} (${[counted(dispatches, 'result'), ...stands].join(', ')})`;
  return [
    `${pc.bold(quoted(task).padEnd(width))}  ${outcome}`,
    ...(replan_hint === undefined ? [] : [`  ${pc.red('stalled:')} ${quoted(stallText(replan_hint))}`]),
  ];
}

function section(pc: Colors, title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', pc.bold(title), ...lines.map((line) => `  ${line}`)];
}

function workingLine(
  pc: Colors,
  { task, agent, since }: RunStatusReply['working'][number],
  now: string,
  session?: string,
): string {
  const where = session === undefined ? '' : `${session}  `;
  return `${where}${pc.bold(quoted(task))}  ${quoted(agent)}, since ${age(since, now)}`;
}

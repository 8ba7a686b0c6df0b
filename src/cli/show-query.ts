import picocolors from 'picocolors';
import type { Token } from '../contracts/names.js';
import type { FactShown, FilesListed, FoundFact } from '../contracts/replies/fact-reply.js';
import type { RejectedShown } from '../contracts/replies/rejected-reply.js';
import type { ToolReply } from '../contracts/replies/replies.js';
import type { LedgerShown, LedgersListed } from '../contracts/replies/run-reply.js';
import type { SessionListed, SnapshotShown } from '../contracts/replies/session-reply.js';
import type { TimelineEntry } from '../contracts/replies/timeline-reply.js';
import type { TracesListed } from '../contracts/replies/trace-reply.js';
import type { ToolName } from '../contracts/tool-requests.js';
import type { Finding } from '../nats/doctor/finding.js';
import { stallText } from '../shared/stall-text.js';
import { visible } from '../shared/terminal-text.js';
import { age, counted, oneLine } from '../shared/text.js';
import { promptLine, promptLines } from './show-prompt.js';
import { retentionLines } from './show-retention.js';

/** Replies of the tools that read, as lines for people. What agents wrote gets one line of visible text. */

const LINES: { readonly [Name in ToolName]?: (reply: ToolReply<Name>) => readonly string[] } = {
  'session-list': ({ sessions }) => listed(sessionLines(sessions), 'no such sessions'),
  'session-export': ({ events }) =>
    listed(
      events.map((each) => oneLine(JSON.stringify(each))),
      'no such events: "throughline session ls" lists the sessions that have some',
    ),
  'fact-show': factLines,
  'file-list': ({ files, links }) =>
    listed(fileLines({ files, links }), 'no such files: results name them in files_modified'),
  'timeline-list': ({ entries }) =>
    listed(
      entries.map((entry) => timelineLine(entry)),
      'no such entries: with the session alone all are listed',
    ),
  'ledger-list': ({ tasks }) =>
    listed(ledgerListLines({ tasks }), 'no task has had a result yet: "throughline publish" sends one'),
  'ledger-show': (reply) => (reply.remark === undefined ? ledgerLines(reply) : [oneLine(reply.remark)]),
  'trace-list': ({ intents }) =>
    listed(intents.map(intentLine), 'no intent has a trace yet: "throughline trace append" begins one'),
  'trace-show': ({ entries }) =>
    listed(
      entries.map(({ at, entry, line }) => `${at}  ${oneLine(entry.id)}  ${oneLine(line)}`),
      'no such entries: "throughline trace ls" lists the intents that have some',
    ),
  'snapshot-show': (shown) => [...(shown.text === undefined ? [] : [shown.text]), ...snapshotLines(shown)],
  'telemetry-show': telemetryLines,
  'retention-show': (reply) => retentionLines(reply, new Date().toISOString()),
  'retention-set': (reply) => retentionLines(reply, new Date().toISOString()),
  'rejected-list': ({ rejected }) => listed(rejected.map(rejectedLine), 'no such rejected results'),
  'prompt-list': ({ prompts }) =>
    listed(prompts.map(promptLine), 'no such prompts: each that is compiled is kept, the newest 200'),
  'prompt-show': ({ prompt }) => promptLines(prompt),
};

/** The lines of a reply; `undefined` for a tool whose reply is shown otherwise. */
export function queryLines(name: ToolName, reply: unknown): readonly string[] | undefined {
  // The entry of a tool takes the reply of that tool; the index type cannot say so.
  const lines = LINES[name] as ((reply: unknown) => readonly string[]) | undefined;
  return lines?.(reply);
}

function listed(lines: readonly string[], none: string): readonly string[] {
  return lines.length === 0 ? [none] : lines;
}

/** Names up to this length stand in a column of their own. */
const MAX_COLUMN = 40;

/**
 * Each session with how far it is and how long ago it moved, and below it what is stalled and what waits for a person.
 *
 * @param noFigures what is said of one without figures
 */
export function sessionLines(
  sessions: readonly SessionListed[],
  now = new Date().toISOString(),
  noFigures = '',
): string[] {
  const rows = sessions.map((each) => ({
    each,
    cells: [each.session, statusOf(each), age(each.at, now), beganOf(each, now)],
  }));
  const widths = [0, 0, 0, 0];
  for (const { cells } of rows)
    for (const [column, { length }] of cells.entries())
      if (length <= MAX_COLUMN) widths[column] = Math.max(widths[column] ?? 0, length);
  return rows.flatMap(({ each, cells }) => {
    const [first = '', ...more] = linesOf(each, noFigures);
    const columns = cells.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    return [[...columns, first].join('  ').trimEnd(), ...more];
  });
}

function statusOf(session: SessionListed): string {
  if (session.brief) return '';
  return session.archived === undefined ? session.status : 'archived';
}

function beganOf(session: SessionListed, now: string): string {
  return session.brief || session.startedAt === undefined ? '' : `began ${age(session.startedAt, now)}`;
}

/** What stands behind the name, the status and the age of a session, and below it. */
function linesOf(session: SessionListed, noFigures: string): string[] {
  if (session.brief) return [noFigures];
  const { title, results, rejected, facts, board, plan, stalled, waiting, unread } = session;
  const tasks = board.open + board.done;
  const parts = [
    ...(title === undefined ? [] : [oneLine(title)]),
    ...(plan === undefined ? [] : [`plan ${plan.done} of ${plan.total} done`]),
    ...(tasks === 0 ? [] : [`board ${board.done} of ${tasks} done`]),
    counted(results, 'result'),
    counted(facts, 'fact'),
    ...(rejected === 0 ? [] : [`${rejected} rejected`]),
    ...(unread === 0 ? [] : [`${unread} unread`]),
  ];
  return [
    parts.join(', '),
    ...stalled.map(({ task, reason }) => `  stalled: task ${oneLine(task)}: ${oneLine(stallText(reason))}`),
    ...waiting.map((what) => `  waits: ${oneLine(what)}`),
  ];
}

/** An entry of a timeline in one line, with its session where that is not plain. */
export function timelineLine(entry: TimelineEntry, session?: Token): string {
  const { at, kind, task, role, verdict, failed, summary, dispatch } = entry;
  const what = [role, verdict].filter((part) => part !== undefined).join(' ');
  const where = dispatch === undefined ? '' : ` (dispatch ${dispatch})`;
  const parts = [
    at,
    session ?? '',
    `${kind}${failed ? '!' : ''}`.padEnd(9),
    oneLine(task ?? '-'),
    what,
    summary === verdict ? '' : oneLine(summary),
  ];
  return parts.filter((part) => part !== '').join('  ') + where;
}

/** An intent that has a trace in one line. */
export function intentLine({ id, entries, request }: TracesListed['intents'][number]): string {
  const asked = request === undefined ? '' : `  ${oneLine(request)}`;
  return `${oneLine(id)}  ${counted(entries, 'entry', 'entries')}${asked}`;
}

function factLine({ id, subject, relation, object, task, dispatch, closed_by }: FoundFact): string {
  const closed = closed_by === undefined ? '' : ` (closed by dispatch ${closed_by})`;
  return `${id} ${oneLine(`${subject} ${relation} ${object}`)} [task:${oneLine(task)}] dispatch ${dispatch}${closed}`;
}

function factLines({ fact, history, closedBy, shownIn }: FactShown): string[] {
  const closer = [closedBy?.role, closedBy?.task && `task ${oneLine(closedBy.task)}`]
    .filter(Boolean)
    .join(', ');
  return [
    factLine(fact),
    `  said by ${fact.role} at ${fact.at}, event ${fact.eventSequence}`,
    ...(closedBy === undefined
      ? []
      : [`  closed at ${closedBy.at} by dispatch ${closedBy.dispatch}${closer && ` (${closer})`}`]),
    ...history.map((each) => `  before or beside: ${factLine(each)}`),
    ...shownIn.map(({ id, at, kind, task }) => {
      const forTask = task === undefined ? '' : ` of task ${oneLine(task)}`;
      return `  shown at ${at} in the ${kind} prompt ${id}${forTask}`;
    }),
  ];
}

function fileLines({ files, links }: Pick<FilesListed, 'files' | 'links'>): string[] {
  return files.map(({ path, uses, tasks }, index) => {
    const together = links
      .filter(({ from, to }) => from === index || to === index)
      .slice(0, 3)
      .map((link) => oneLine(files[link.from === index ? link.to : link.from]?.path ?? ''));
    const beside = together.length === 0 ? '' : `, often with ${together.join(', ')}`;
    return `${oneLine(path)}  ${counted(uses, 'result')}, tasks ${tasks.map(oneLine).join(', ')}${beside}`;
  });
}

export function ledgerListLines({ tasks }: Pick<LedgersListed, 'tasks'>): string[] {
  return tasks.flatMap(progressLines);
}

interface Progress {
  readonly task: string;
  readonly board?: string | undefined;
  readonly plan?: string | undefined;
  readonly dispatches: number;
  readonly last_outcome: string;
  readonly next_action: string;
  readonly required_fixes: number;
  readonly replan_hint?: string | undefined;
}

/** What came of a task, and why it is stalled where it is. */
export function progressLines(progress: Progress): string[] {
  const { task, board, plan, dispatches, last_outcome, next_action, required_fixes, replan_hint } = progress;
  const stands = [board && `board: ${board}`, plan && `plan: ${plan}`].filter((where) => where !== undefined);
  const where = stands.length === 0 ? '' : ` (${stands.join(', ')})`;
  const fixes = required_fixes === 0 ? '' : `, ${counted(required_fixes, 'required fix', 'required fixes')}`;
  const came = `${last_outcome} → ${next_action}${fixes} (${counted(dispatches, 'dispatch', 'dispatches')})`;
  return [
    `${oneLine(task)}${where}  ${came}`,
    ...(replan_hint === undefined ? [] : [`  stalled: ${oneLine(stallText(replan_hint))}`]),
  ];
}

/** The known entries of a task, a line each. */
export function ledgerLines({ entries }: Pick<LedgerShown, 'entries'>): string[] {
  return Object.entries(entries).map(
    ([key, value]) => `${key}  ${typeof value === 'string' ? oneLine(value) : JSON.stringify(value)}`,
  );
}

/** What a snapshot holds, a line each. */
export function snapshotLines(shown: SnapshotShown): string[] {
  const byRole = Object.entries(shown.dispatches).map(([kind, count]) => `${count} ${kind}`);
  return [
    `after sequence  ${shown.after}`,
    `created at      ${shown.createdAt}`,
    `size            ${shown.bytes} bytes`,
    `valid facts     ${shown.facts}`,
    `dispatches      ${byRole.join(', ')}`,
  ];
}

/** A rejected result in one line. */
export function rejectedLine(entry: RejectedShown): string {
  const { id, at, subject, sequence, code, bytes, reason } = entry;
  return `${id}  ${at}  ${subject}  dispatch ${sequence}  ${bytes} bytes  ${code}: ${reason}`;
}

/** What was counted of a session, a line each. */
export function telemetryLines(report: ToolReply<'telemetry-show'>): string[] {
  const entries = (value: object) =>
    Object.entries(value)
      .map(([key, count]) => `${count} ${key}`)
      .join(', ') || '-';
  return Object.entries(report).map(
    ([key, value]) => `${key.padEnd(16)}${typeof value === 'object' ? entries(value) : value}`,
  );
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** A finding, and on a second line what to do about it. */
export function findingLines({ check, level, message, fix }: Finding, coloured: boolean): string {
  const pc = picocolors.createColors(coloured);
  const lines = [`${levelText(level, coloured)}  ${check}: ${visible(message)}`];
  if (fix !== undefined) lines.push(`      ${pc.dim(`→ ${visible(fix)}`)}`);
  return lines.join('\n');
}

/** `ok  `, `warn` or `fail`, in its colour. */
export function levelText(level: Finding['level'], coloured: boolean): string {
  return picocolors.createColors(coloured)[COLOURS[level]](level.padEnd(4));
}

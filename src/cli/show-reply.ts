import picocolors from 'picocolors';
import type { FactShown, FactsFound, FoundFact } from '../contracts/fact-requests.js';
import type { Token } from '../contracts/names.js';
import { repairsInWords } from '../contracts/reading/repairs.js';
import { RELATIONS } from '../contracts/relations.js';
import type { SessionListed } from '../contracts/replies/session-reply.js';
import type { ReplyTo, RequestName, ToolReply } from '../contracts/requests.js';
import {
  type DispatchResult,
  type RejectedShown,
  TIMELINE_KINDS,
  type TimelineEntry,
} from '../contracts/result-requests.js';
import { age, clipText, counted, quoted } from '../shared/text.js';
import {
  claimNote,
  leftBy,
  resultName,
  spaced,
  speakerText,
  stallText,
  statusText,
  toneOf,
} from '../shared/wire-words.js';
import { type Cli, coloured } from './command-context.js';
import { localTime } from './option-parsers.js';
import { type Cell, inLine, table } from './output.js';

/**
 * The replies of the tools as lines for people. The client has parsed each reply once; text of agents may hold escape
 * sequences, so it is shown as one line of visible text.
 */

export type Colors = ReturnType<typeof picocolors.createColors>;

export const NO_COLOURS: Colors = picocolors.createColors(false);

export function coloursOf(cli: Cli): Colors {
  return picocolors.createColors(coloured(cli));
}

type Renderer<Name extends RequestName> = (reply: ReplyTo<Name>, pc: Colors) => readonly string[];

const task: Renderer<'tool.task-add'> = ({ task }, pc) => [inLine(taskCells(pc, task))];
const claim: Renderer<'tool.task-next'> = ({ task, plan }, pc) => {
  if (task !== null) return [inLine(taskCells(pc, task))];
  if (plan === undefined) return ['no task is ready'];
  return [`${pc.bold(quoted(plan.id))} of the plan: ${quoted(plan.text)}${claimNote(plan.claimed_by)}`];
};
const note: Renderer<'tool.note-add'> = ({ note }, pc) => [inLine(noteCells(pc, note))];
const message: Renderer<'tool.inbox-add'> = ({ message }, pc) => [inLine(messageCells(pc, message))];
const iteration: Renderer<'tool.iteration-start'> = ({ iteration }, pc) => [
  inLine(iterationCells(pc, iteration)),
];
const session: Renderer<'tool.session-open'> = ({ session }, pc) => sessionFields(pc, session);
const retention: Renderer<'tool.retention-show'> = ({ rules, archive, forget }) =>
  rules.length === 0
    ? ['no rules: everything is kept; "throughline admin retention set archive --after 90d" sets one']
    : [
        ...rules.map(({ project, action, after, at }) => {
          const whose = project === undefined ? 'installation' : `project ${quoted(project)}`;
          return `${whose}: ${action}${after === undefined ? '' : ` after ${after}`} (set ${at})`;
        }),
        `now they would archive ${counted(archive, 'session')} and forget ${forget}; list them with "throughline session ls --older-than"`,
      ];

const NO_ITERATIONS = 'no iterations: an agent begins one with "throughline tool iteration-start"';

const RENDERERS: { readonly [Name in RequestName]?: Renderer<Name> } = {
  'tool.task-add': task,
  'tool.task-status': task,
  'tool.task-priority': task,
  'tool.task-depends': task,
  'tool.task-undepends': task,
  'tool.task-content': task,
  'tool.task-release': claim,
  'tool.task-next': claim,
  'tool.task-list': ({ tasks }, pc) =>
    tabled(pc, 'ID PRIO STATUS TASK', tasks, taskCells, 'no tasks: "throughline task add" adds one'),
  'tool.task-delete': ({ task, deleted }, pc) => [
    task === null ? `${deleted} deleted` : inLine(taskCells(pc, task)),
  ],
  'tool.note-add': note,
  'tool.note-edit': note,
  'tool.note-list': ({ notes }, pc) =>
    tabled(pc, 'ID TYPE NOTE', notes, noteCells, 'no notes: "throughline note add" writes one'),
  'tool.note-delete': ({ deleted }) => [`${deleted} removed`],
  'tool.inbox-add': message,
  'tool.inbox-mark-read': message,
  'tool.blocker-answer': ({ answer: { task, questions, answer } }) => [
    `task ${quoted(task)} asked: ${questions.map(quoted).join(' ')}`,
    `answered: ${quoted(answer)}`,
  ],
  'tool.inbox-list': ({ messages }, pc) =>
    tabled(
      pc,
      'ID STATE FROM MESSAGE',
      messages,
      messageCells,
      'no unread messages: --all shows those that were read',
    ),
  'tool.iteration-start': iteration,
  'tool.iteration-complete': iteration,
  'tool.iteration-summary': iteration,
  'tool.iteration-list': ({ iterations }, pc) =>
    tabled(pc, 'NO BEGAN STATE SUMMARY', iterations, iterationCells, NO_ITERATIONS),
  'tool.session-open': session,
  'tool.session-complete': session,
  'tool.session-restart': session,
  'tool.session-reopen': session,
  'tool.session-archive': session,
  'tool.session-list': ({ sessions }, pc) =>
    sessions.length === 0 ? ['no such sessions'] : sessionLines(pc, sessions),
  'tool.recall': ({ text }) => listed(text.split('\n').filter(Boolean), 'nothing fits: try other words'),
  'tool.fact-show': factLines,
  'tool.fact-retract': ({ fact }, pc) => [factLine(fact, pc)],
  'tool.fact-restore': ({ fact }, pc) => [factLine(fact, pc)],
  'tool.fact-erase': ({ fact, events }, pc) => [
    factLine(fact, pc),
    pc.dim(
      `  overwritten in ${counted(events, 'event')}; copies of the session under other names, backups, exported files and, for a month, the hooks of other machines may still have it`,
    ),
  ],
  'tool.fact-correct': ({ fact, corrected }, pc) => [factLine(corrected, pc), factLine(fact, pc)],
  'tool.telemetry-show': (report, pc) => fieldLines(pc, report),
  'tool.retention-show': retention,
  'tool.retention-set': retention,
  'tool.rejected-list': ({ rejected }, pc) =>
    tabled(pc, 'ID TIME SUBJECT RESULT BYTES WHY', rejected, rejectedCells, 'no such rejected results'),
};

/** A reply as lines of text; as JSON for a tool that only programs use. */
export function showReply<Name extends RequestName>(
  name: Name,
  reply: ReplyTo<Name>,
  colours: Colors = NO_COLOURS,
): readonly string[] {
  const renderer = RENDERERS[name] as Renderer<Name> | undefined;
  return renderer?.(reply, colours) ?? [quoted(JSON.stringify(reply))];
}

function tabled<Item>(
  pc: Colors,
  headings: string,
  items: readonly Item[],
  cellsOf: (pc: Colors, item: Item) => readonly Cell[],
  none: string,
): readonly string[] {
  return listed(tableOf(pc, headings.split(' '), items, cellsOf), none);
}

export function tableOf<Item>(
  pc: Colors,
  headings: readonly string[],
  items: readonly Item[],
  cellsOf: (pc: Colors, item: Item) => readonly Cell[],
): readonly string[] {
  if (items.length === 0) return [];
  return table(
    headings,
    items.map((item) => cellsOf(pc, item)),
    pc.dim,
  );
}

const TONE_COLOURS = { good: 'green', warn: 'yellow', bad: 'red', info: 'cyan' } as const;

export function toned(pc: Colors, word: string, text = spaced(word)): Cell {
  const tone = toneOf(word);
  return tone === 'quiet' ? text : { text, colour: pc[TONE_COLOURS[tone]] };
}

function listed(lines: readonly string[], none: string): readonly string[] {
  return lines.length === 0 ? [none] : lines;
}

function taskCells(pc: Colors, task: ToolReply<'task-add'>['task']): Cell[] {
  const { id, by, content, status, priority, claimed_by, reason, result, unresolved } = task;
  const waits = unresolved.map((other) => `${other.id}, ${statusText(other.why)}`).join('; ');
  const waiting = waits === '' ? '' : pc.red(` (waits for ${waits})`);
  const why = reason === undefined ? '' : ` (reason: ${quoted(reason)})`;
  const last =
    result === undefined ? '' : ` (last result: ${spaced(result.outcome)}, ${resultName(result.dispatch)})`;
  return [
    { text: id, colour: pc.bold },
    `P${priority}`,
    toned(pc, status, statusText(status)),
    `${by === undefined ? '' : `${leftBy(by).trim()}: `}${quoted(content)}${waiting}${last}${why}${claimNote(claimed_by)}`,
  ];
}

function noteCells(pc: Colors, { id, type, content }: ToolReply<'note-add'>['note']): Cell[] {
  return [{ text: id, colour: pc.bold }, { text: type, colour: pc.cyan }, quoted(content)];
}

function messageCells(pc: Colors, { id, read, by = '', content }: ToolReply<'inbox-add'>['message']): Cell[] {
  const state = read ? { text: 'read', colour: pc.dim } : { text: 'unread', colour: pc.yellow };
  return [{ text: id, colour: pc.bold }, state, quoted(by), quoted(content)];
}

function iterationCells(pc: Colors, iteration: ToolReply<'iteration-start'>['iteration']): Cell[] {
  const { number, started_at, ended_at, complete, summary, tasks_worked } = iteration;
  const running =
    ended_at === undefined ? { text: 'running', colour: pc.yellow } : { text: 'overtaken', colour: pc.dim };
  const worked = tasks_worked.length === 0 ? '' : ` [${tasks_worked.join(', ')}]`;
  const summaryText = summary === undefined ? '(no summary)' : quoted(summary);
  return [
    { text: `#${number}`, colour: pc.bold },
    started_at,
    complete ? { text: 'complete', colour: pc.green } : running,
    `${summaryText}${worked}`,
  ];
}

function sessionFields(pc: Colors, { archived, status, ...rest }: ToolReply<'session-open'>['session']) {
  const { name, ...others } = rest;
  if (archived === undefined) return fieldLines(pc, { name, status, ...others });
  const why = archived.reason === undefined ? '' : `: ${archived.reason}`;
  return fieldLines(pc, { name, status: 'archived', archived: `since ${archived.at}${why}`, ...others });
}

function fieldLines(pc: Colors, given: object): string[] {
  const fields = Object.entries(given);
  const width = Math.max(...fields.map(([key]) => key.length));
  const shown = (field: string, value: unknown): string => {
    if (typeof value !== 'object' || value === null) return clipText(quoted(String(value ?? '-')), 200);
    const hasStates = field === 'board' || field === 'plan';
    const counts = Object.entries(value).map(
      ([key, count]) => `${count} ${hasStates ? statusText(key) : key}`,
    );
    return counts.join(', ') || '-';
  };
  return fields.map(([key, value]) => {
    const title = { dispatches: 'results', sequence: 'event' }[key] ?? key;
    return `${pc.dim(title.padEnd(width))}  ${shown(key, value)}`;
  });
}

/**
 * Each session with how far it is and how long ago it moved, and below it what is stalled and what waits for a person.
 *
 * @param noFigures what is said of one without figures
 */
export function sessionLines(
  pc: Colors,
  sessions: readonly SessionListed[],
  now = new Date().toISOString(),
  noFigures = '',
): string[] {
  const shown = sessions.map((session) => linesOf(pc, session, noFigures));
  const rows = sessions.map((session, at): Cell[] => [
    { text: session.session, colour: pc.bold },
    toned(pc, session.brief ? '' : session.archived === undefined ? session.status : 'archived'),
    age(session.at, now),
    session.brief || session.started_at === undefined ? '' : age(session.started_at, now),
    shown[at]?.[0] ?? '',
  ]);
  const [heading = '', ...lines] = table(['SESSION', 'STATUS', 'MOVED', 'BEGAN', 'HOW FAR'], rows, pc.dim);
  return [heading, ...lines.flatMap((line, at) => [line, ...(shown[at]?.slice(1) ?? [])])];
}

function linesOf(pc: Colors, session: SessionListed, noFigures: string): string[] {
  if (session.brief) return [noFigures];
  const { title, results, rejected, facts, board, plan, stalled, waiting, unread, found } = session;
  const tasks = board.open + board.done;
  const parts = [
    ...(title === undefined ? [] : [quoted(title)]),
    ...(plan === undefined ? [] : [`plan ${plan.done} of ${plan.total} done`]),
    ...(tasks === 0 ? [] : [`board ${board.done} of ${tasks} done`]),
    counted(results, 'result'),
    counted(facts, 'fact'),
    ...(rejected === 0 ? [] : [`${rejected} rejected`]),
    ...(unread === 0 ? [] : [`${unread} unread`]),
  ];
  return [
    parts.join(', '),
    ...stalled.map(
      ({ task, reason }) => `  ${pc.red('stalled:')} task ${quoted(task)}: ${quoted(stallText(reason))}`,
    ),
    ...waiting.map((what) => `  ${pc.yellow('waits:')} ${quoted(what)}`),
    ...(found?.tasks ?? []).map(({ id, text }) => `  ${pc.dim('task:')} ${quoted(id)} ${quoted(text)}`),
    ...(found?.files ?? []).map((file) => `  ${pc.dim('file:')} ${quoted(file)}`),
  ];
}

/** Without the prompts that were compiled, which say nothing new. */
export const USUAL_KINDS = TIMELINE_KINDS.filter((kind) => kind !== 'prompt');

export const TIMELINE_HEADINGS = ['TIME', 'KIND', 'TASK', 'RESULT', 'WHAT'];

export function timelineCells(pc: Colors, entry: TimelineEntry): Cell[] {
  const { at, kind, task, role, verdict = '', failed, summary, dispatch } = entry;
  const what = [role, spaced(verdict)].filter((part) => part !== undefined && part !== '').join(' ');
  const where = dispatch === undefined ? '' : ` (result ${dispatch})`;
  return [
    { text: localTime(at), colour: pc.dim },
    failed ? { text: `${kind}!`, colour: pc.red } : kind,
    quoted(task ?? '-'),
    toned(pc, verdict, what),
    `${summary === verdict ? '' : quoted(summary)}${where}`,
  ];
}

export function timelineLine(pc: Colors, entry: TimelineEntry, session: Token): string {
  const [at = '', kind = '', ...rest] = timelineCells(pc, entry);
  const padded = typeof kind === 'string' ? kind.padEnd(9) : { ...kind, text: kind.text.padEnd(9) };
  const cells = [at, session, padded, ...rest];
  return inLine(
    cells.filter((cell) => cell !== ''),
    '  ',
  );
}

type Learned = NonNullable<FactsFound['learnings']>['newest'][number];
export const FACT_HEADINGS = ['ID', 'TASK', 'RESULT', 'FACT'];

/** The cells of a fact, or of a learning. One of a command, such as a note, has no task and no result. */
export function factCells(pc: Colors, fact: FoundFact | Learned): Cell[] {
  if ('content' in fact) {
    const id = { text: quoted(fact.id).slice(0, 5), colour: pc.bold };
    return [id, '-', '-', `${quoted(fact.content)}${pc.dim(' (learning)')}`];
  }
  const { id, ref = id.slice(0, SHORT_ID), subject, relation, object, severity, fix, dispatch } = fact;
  const finding = [severity, fix && `fix: ${fix}`].filter(Boolean).join(', ');
  const isOfCommand = ref.replace(/v\d+$/, '') === fact.task;
  const only = fact.scope === undefined ? '' : ` (only ${Object.values(fact.scope).flat().join(', ')})`;
  const words = `${isOfCommand ? '' : `${subject} `}${relation} ${object}${only}${finding && ` (${finding})`}`;
  return [
    { text: ref, colour: pc.bold },
    isOfCommand ? '-' : quoted(fact.task),
    isOfCommand ? '-' : dispatch > 0 ? String(dispatch) : 'imported',
    `${quoted(words)}${pc.dim(`${fact.origin === undefined ? '' : ` (said by ${speakerText(fact)})`}${closing(fact)}`)}`,
  ];
}

/** Characters of an id that commands accept in its place. */
export const SHORT_ID = 8;

function factLine(fact: FoundFact, pc: Colors = NO_COLOURS): string {
  const [id, of, , words = ''] = factCells(pc, fact);
  return inLine([id ?? '', words, ...(of === '-' ? [] : [`[task:${of}]`, resultName(fact.dispatch)])]);
}

/** Says what closed a fact; empty while it is valid. */
export function closing({ relation, closed_by, retracted, ended }: FoundFact): string {
  if (ended !== undefined) {
    const term = ended.term === undefined ? '' : `: ${ended.term}`;
    return ` (${quoted(`${ended.how} by ${ended.by}${term}`)})`;
  }
  // The approval of its task closes a question without an answer.
  const closed = relation === RELATIONS.asks ? 'no longer open since' : 'closed by';
  if (retracted === undefined) return closed_by === undefined ? '' : ` (${closed} ${resultName(closed_by)})`;
  const { by, instead, reason } = retracted;
  const what = instead === undefined ? 'retracted' : `replaced by ${instead}, corrected`;
  return ` (${quoted(`${what} by ${by}${reason === undefined ? '' : `: ${reason}`}`)})`;
}

function factLines({ fact, history, closed_by: closedBy, shownIn }: FactShown): string[] {
  const closer = [closedBy?.role, closedBy?.task && `task ${quoted(closedBy.task)}`]
    .filter(Boolean)
    .join(', ');
  return [
    factLine(fact),
    `  said by ${fact.role} at ${fact.at}, event ${fact.eventSequence}`,
    ...(closedBy === undefined
      ? []
      : [`  closed at ${closedBy.at} by ${resultName(closedBy.dispatch)}${closer && ` (${closer})`}`]),
    ...history.map((version) => `  before or beside: ${factLine(version)}`),
    ...shownIn.map(({ id, at, kind, task }) => {
      const forTask = task === undefined ? '' : ` of task ${quoted(task)}`;
      return `  shown at ${at} in the ${kind} prompt ${id}${forTask}`;
    }),
  ];
}

function rejectedCells(_: Colors, { id, at, subject, sequence, code, bytes, reason }: RejectedShown) {
  return [String(id), at, subject, String(sequence), String(bytes), `${code}: ${reason}`];
}

export function rejectedLine({ id, at, subject, sequence, code, bytes, reason }: RejectedShown): string {
  return `${id}  ${at}  ${subject}  result ${sequence}  ${bytes} bytes  ${code}: ${reason}`;
}

export function resultText(result: DispatchResult): string {
  const name = `result ${result.dispatch}`;
  switch (result.status) {
    case 'recorded': {
      const { role, task: of, facts, factsOmitted = 0, repairs, repairsOmitted = 0 } = result;
      return [
        `${name} recorded: ${role}, task ${quoted(of)}, ${counted(facts.length, 'fact')}`,
        ...facts.map(({ subject, relation, object }) => `- ${quoted(`${subject} ${relation} ${object}`)}`),
        ...(factsOmitted === 0 ? [] : [`and ${counted(factsOmitted, 'fact')} beyond the limit, not kept`]),
        ...(repairs === undefined ? [] : [quoted(repairsInWords({ repairs, repairsOmitted }))]),
      ].join('\n');
    }
    case 'rejected': {
      const { code, reason, fix } = result;
      const head = `${name} rejected: ${quoted(reason)} (${code})`;
      return fix === undefined ? head : `${head}\nto fix it: ${quoted(fix)}`;
    }
    case 'repeated':
      return `${name} repeated: this result of ${result.role} for task ${quoted(result.task)} had counted before, so nothing changed`;
    case 'counted':
      return `${name} was accepted, and the session keeps nothing of it: it repeated an earlier result, or newer ones have taken its place`;
  }
}

import { isRole, kindOf, questionsOf, verdictIn } from '../../contracts/kinds.js';
import type { TasksDocument } from '../../contracts/plan-requests.js';
import type { PromptTraceBrief } from '../../contracts/prompt-requests.js';
import type { TimelineEntry, TimelineKind } from '../../contracts/result-requests.js';
import {
  type EventOf,
  type FactRecorded,
  SESSION_EVENTS,
  type SessionEvent,
  type StoredEvent,
} from '../../contracts/session-events.js';
import { totalsOf } from '../../ledger/next-task.js';
import { defined } from '../../shared/collections.js';
import { clipText, counted, oneLine } from '../../shared/text.js';
import { claimedBy, leftBy, statusText } from '../../shared/wire-words.js';
import { factsOfEvent, keptLines } from '../facts/statements.js';
import { NOT_KEPT } from '../traces/finished-turn.js';
import { isFailure } from '../traces/session-traces.js';
import { entryText } from '../traces/trace-summary.js';

/** In characters. */
const MAX_SUMMARY = 300;

function timelineKind(type: SessionEvent['type']): Exclude<TimelineKind, 'prompt'> {
  if (type === 'fact.recorded') return 'result';
  if (type === 'dispatch.rejected') return 'rejected';
  return type === 'trace.appended' ? 'trace' : 'command';
}

export function timelineEntry({ sequence, event: stored }: StoredEvent): TimelineEntry {
  // History is shown as the event that it holds, if this version reads it.
  const event = (stored.type === 'session.history' && SESSION_EVENTS.parse(stored.data.event)) || stored;
  const { summary, dispatch, ...fields } = fieldsOf(event);
  // The number of an imported result is one of its old installation. An erased one stays in this one.
  const isImported = stored.type === 'session.history' && stored.data.sequence === undefined;
  return {
    key: `e${sequence}`,
    kind: timelineKind(event.type),
    at: event.at,
    sequence,
    type: event.type,
    ...fields,
    ...(dispatch !== undefined && !isImported && { dispatch }),
    summary: clipText(oneLine(summary), MAX_SUMMARY),
  };
}

export function promptEntry(
  prompt: PromptTraceBrief & { readonly durationMs: number; readonly dropped: number },
): TimelineEntry {
  const { id, at, kind, task, role, sequence, tokens, hash, durationMs, dropped } = prompt;
  const left = dropped === 0 ? '' : `, ${counted(dropped, 'item')} left out`;
  const who = role === undefined ? '' : ` for the ${role}`;
  return {
    key: `p${id}`,
    kind: 'prompt',
    at,
    sequence,
    type: 'prompt.compiled',
    ...(task !== undefined && { task }),
    ...(isRole(role) && { role }),
    summary: clipText(oneLine(`${kind} prompt${who}: ${counted(tokens, 'token')}${left}`), MAX_SUMMARY),
    prompt: { id, kind, tokens, durationMs, dropped, hash },
  };
}

type Detail = Omit<TimelineEntry, 'key' | 'kind' | 'at' | 'sequence' | 'type' | 'prompt'>;

function fieldsOf(event: SessionEvent): Detail {
  switch (event.type) {
    case 'fact.recorded':
      return result(event);
    case 'dispatch.rejected': {
      const { dispatch, error } = event.data;
      const { sequence, role, task } = dispatch;
      const summary = `${error.code}: ${error.reason}`;
      return defined({ task, role, failed: true as const, dispatch: sequence, summary });
    }
    case 'trace.appended':
      return traced(event);
    case 'fact.retracted': {
      const { source, instead } = event.data;
      const what = instead === undefined ? 'retracted' : `corrected to "${instead}"`;
      return { task: source.task, summary: byPerson(event, what) };
    }
    case 'fact.restored':
      return { task: event.data.source.task, summary: byPerson(event, 'restored') };
    case 'task.status': {
      const { task, status, reason } = event.data;
      return { task, summary: `set to ${statusText(status)}${because(reason)}` };
    }
    default: {
      const task = 'task' in event.data ? event.data.task : undefined;
      const summaryOf = SUMMARIES[event.type] as (data: Other['data']) => string;
      return defined({ task, summary: summaryOf(event.data) });
    }
  }
}

function byPerson({ data }: EventOf<'fact.retracted' | 'fact.restored'>, what: string): string {
  const why = data.reason === undefined ? '' : ` (${data.reason})`;
  return `${what} by ${data.by}${why}: ${data.fact.object}`;
}

function traced({ data }: EventOf<'trace.appended'>): Detail {
  const { entries, malformed, malformed_because: why } = data;
  const [first] = entries;
  const others = entries.length - 1;
  const failed = malformed > 0 || entries.some(({ status }) => status === 'FAILURE' || status === 'DENIED');
  const parts = [
    ...(first === undefined ? [] : [first.reasoning === NOT_KEPT ? NOT_KEPT : entryText(first)]),
    ...(others > 0 ? [`and ${counted(others, 'more entry', 'more entries')}`] : []),
    ...(entries.slice(1).some(({ reasoning }) => reasoning === NOT_KEPT) ? [NOT_KEPT] : []),
    ...(malformed === 0 ? [] : [`${counted(malformed, 'entry', 'entries')} not read`]),
    ...(why === undefined ? [] : [why]),
  ];
  return { ...(failed && { failed }), summary: parts.join(', ') };
}

function result(event: FactRecorded): Detail {
  const { dispatch, repairs = [], facts_omitted = 0, repairs_omitted = 0 } = event.data;
  const { role, task, outcome } = dispatch;
  const verdict = verdictIn(role, outcome);
  const { summary, required_fixes = [], issues = [], blockers = [] } = outcome;
  const text = summary ?? blockers[0] ?? required_fixes[0] ?? issues[0]?.message ?? verdict ?? 'no summary';
  const repaired = repairs.length + repairs_omitted;
  const facts = factsOfEvent(event);
  const kept = kindOf(role).part === 'note' ? keptLines(facts) : [];
  // Endings come first, as what is too long is cut at its end.
  const after = `${endings(event)}${kept.length === 0 ? '' : ` [kept: ${kept.join('; ')}]`}`;
  const asks = questionsOf(outcome, verdict).filter((question) => question.default === undefined);
  return {
    task,
    role,
    ...(verdict !== undefined && { verdict }),
    ...(verdict !== undefined && isFailure(verdict) && { failed: true }),
    summary: `${clipText(oneLine(text), Math.max(MAX_SUMMARY / 2, MAX_SUMMARY - after.length))}${after}`,
    dispatch: dispatch.sequence,
    facts: facts.length + facts_omitted,
    ...(repaired > 0 && { repairs: repaired }),
    ...(asks.length > 0 && { asks: asks.map(({ text }) => clipText(oneLine(text), MAX_SUMMARY)) }),
  };
}

const NOT_ENDED_IN_WORDS = {
  unknown: 'is not a statement of this session',
  ended: 'has ended before',
  rank: 'is the word of someone of higher rank',
  not_shown: 'was not shown to the agent',
} as const;

function endings({ data: { ends = [], not_ended = [], repairs = [] } }: FactRecorded): string {
  const lost = repairs.find(({ kind }) => kind === 'lines')?.detail;
  const texts = [
    ...ends.map(({ id, by, how, term }) => `${id} ${how} by ${by}${term === undefined ? '' : ` (${term})`}`),
    ...not_ended.map(({ id, why }) => `${id} ${NOT_ENDED_IN_WORDS[why]}: nothing ended`),
    ...(lost === undefined ? [] : [`${counted(Number(lost), 'line')} cut or left out`]),
  ];
  return texts.length === 0 ? '' : ` [${texts.join('; ')}]`;
}

type Other = Exclude<
  SessionEvent,
  { type: `fact.${string}` | 'dispatch.rejected' | 'trace.appended' | 'task.status' }
>;

type DataOf<Type extends Other['type']> = EventOf<Type>['data'];

const SUMMARIES: { readonly [Type in Other['type']]: (data: DataOf<Type>) => string } = {
  'task.added': ({ priority, content, by }) => `added${leftBy(by)}, priority ${priority}: ${content}`,
  'task.priority': ({ priority }) => `priority set to ${priority}`,
  'task.depends': ({ depends_on }) => `waits for ${depends_on.join(', ')}`,
  'task.undepends': ({ depends_on }) => `no longer waits for ${depends_on.join(', ')}`,
  'task.content': ({ content, by }) => `new text${leftBy(by)}: ${content}`,
  'task.deleted': ({ undo }) => (undo ? 'restored' : 'deleted'),
  'task.claimed': ({ agent }) => claimedBy(agent),
  'task.released': () => 'given back',
  'question.answered': ({ by, answer }) => `answered by ${by}: ${answer}`,
  'note.added': ({ note, type, content }) => `note ${note} (${type}): ${content}`,
  'note.edited'({ note, type, content }) {
    const kind = type === undefined ? '' : ` (${type})`;
    return `note ${note} changed${kind}${because(content)}`;
  },
  'note.deleted': ({ note }) => `note ${note} deleted`,
  'inbox.added': ({ message, by, content }) => `message ${message}${leftBy(by)}: ${content}`,
  'inbox.read': ({ message, unread }) => `message ${message} ${unread ? 'is unread again' : 'was read'}`,
  'iteration.started': ({ number }) => `iteration ${number} started`,
  'iteration.completed': ({ number }) => `iteration ${number} completed`,
  'iteration.summary': ({ number, summary }) => `iteration ${number}: ${summary}`,
  'session.opened'({ title, goal, spec, spec_path, project }) {
    const set = [
      title !== undefined && `title: ${title}`,
      goal !== undefined && `goal: ${goal}`,
      spec_path !== undefined && `specification at ${spec_path}`,
      spec !== undefined && 'a specification',
      project !== undefined && `project ${project}`,
    ].filter((part) => part !== false);
    return `session opened${set.length === 0 ? '' : `: ${set.join('; ')}`}`;
  },
  'session.completed': ({ forced, reason }) =>
    `session completed${forced ? ' with open work' : ''}${because(reason)}`,
  'session.restarted': ({ reason }) => `session opened again${because(reason)}`,
  'session.archived': ({ reason }) => `session archived${because(reason)}`,
  'session.reopened': ({ reason }) => `session reopened${because(reason)}`,
  'session.checkpoint'({ erased, reason }) {
    if (erased !== undefined) return `${erased.id} was erased by ${erased.by}`;
    if (reason === 'archived') return 'older events were removed: the state is kept here';
    return 'the log begins here: the state is that of the events before';
  },
  'session.history': () => 'an event from before the import',
  'run.initialized': ({ spec, document }) => `plan ${spec}: ${tasksOf(document)}`,
  'run.ended': () => 'no plan is followed any more',
  'progress.rebuilt': ({ document }) => `the plan has changed: ${tasksOf(document)}`,
};

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${reason}`;
}

function tasksOf({ tasks }: TasksDocument): string {
  const { total, completed } = totalsOf(tasks);
  return `${counted(total, 'task')}, ${completed} done`;
}

import picocolors from 'picocolors';
import { z } from 'zod';
import { clipText, oneLine } from '../shared/text.js';
import { dispatchResult, showDispatch } from './show-dispatch.js';
import { planLines, planReply } from './show-plan.js';

/** Replies of tools as text for people: coloured on a terminal, plain in a pipe. */

const { createColors } = picocolors;
type Colors = ReturnType<typeof createColors>;

// What agents wrote may hold escape sequences: a terminal gets one line of visible text.
const text = z.string().transform(oneLine);

const task = z.looseObject({
  id: z.string(),
  content: text,
  status: z.string(),
  priority: z.number(),
  claimed_by: text.optional(),
  reason: text.optional(),
  result: z.object({ dispatch: z.number(), outcome: z.string() }).optional(),
  unresolved: z.array(z.object({ id: z.string(), why: z.string() })).optional(),
});
const note = z.looseObject({ id: z.string(), type: z.string(), content: text });
const message = z.looseObject({ id: z.string(), content: text, read: z.boolean() });
const iteration = z.looseObject({
  number: z.number(),
  started_at: z.string(),
  ended_at: z.string().optional(),
  complete: z.boolean(),
  summary: text.optional(),
  tasks_worked: z.array(z.string()),
});
const session = z
  .looseObject({ name: z.string(), status: z.string() })
  // The counts of the board, by their earlier name.
  .transform(({ tasks: _, ...fields }) => {
    const archived = z.object({ at: z.string(), reason: z.string().optional() }).safeParse(fields.archived);
    if (!archived.success) return fields;
    const { at, reason } = archived.data;
    // As in a list of sessions.
    const status = 'archived';
    return { ...fields, status, archived: reason === undefined ? `since ${at}` : `since ${at}: ${reason}` };
  });
const fact = z.looseObject({
  id: z.string(),
  subject: text,
  relation: text,
  object: text,
  task: text,
  dispatch: z.number(),
  closed_by: z.number().optional(),
});

const reply = z.object({
  task: task.nullable().optional(),
  tasks: z.array(task).optional(),
  note: note.nullable().optional(),
  notes: z.array(note).optional(),
  message: message.nullable().optional(),
  messages: z.array(message).optional(),
  iteration: iteration.nullable().optional(),
  iterations: z.array(iteration).optional(),
  session: session.optional(),
  facts: z.array(fact).optional(),
  deleted: z.string().optional(),
});

/** A reply as lines of text. */
export function showReply(value: unknown, coloured: boolean): string {
  const pc = createColors(coloured);
  const dispatch = dispatchResult.safeParse(value);
  if (dispatch.success) return showDispatch(dispatch.data);
  const plan = planReply.safeParse(value);
  if (plan.success) return planLines(plan.data).join('\n');
  const shown = reply.parse(value);
  if (shown.deleted !== undefined) return `${shown.deleted} deleted`;
  if (shown.task !== undefined) return shown.task === null ? 'no task is ready' : showTask(pc, shown.task);
  if (shown.tasks) return list(pc, shown.tasks, showTask, 'no tasks: `throughline tool task-add` adds one');
  if (shown.note) return showNote(pc, shown.note);
  if (shown.notes) return list(pc, shown.notes, showNote, 'no notes: `throughline tool note-add` writes one');
  if (shown.message) return showMessage(pc, shown.message);
  if (shown.messages)
    return list(pc, shown.messages, showMessage, 'no unread messages: --all shows those that were read');
  if (shown.iteration) return showIteration(pc, shown.iteration);
  if (shown.iterations)
    return list(
      pc,
      shown.iterations,
      showIteration,
      'no iterations: `throughline tool iteration-start` begins one',
    );
  if (shown.facts) return list(pc, shown.facts, showFact, 'no such facts: --is all finds closed ones, too');
  if (shown.session) return showFields(pc, shown.session);
  return JSON.stringify(value);
}

const STATUS_COLOURS: Readonly<Record<string, 'cyan' | 'yellow' | 'green' | 'red' | 'dim'>> = {
  remaining: 'cyan',
  in_progress: 'yellow',
  completed: 'green',
  blocked: 'red',
  cancelled: 'dim',
};

function showTask(pc: Colors, each: z.infer<typeof task>): string {
  const { id, content, status, priority, claimed_by, reason, result, unresolved = [] } = each;
  const colour = STATUS_COLOURS[status];
  const waits = unresolved.map((other) => `${other.id}, ${other.why}`).join('; ');
  const waiting = waits === '' ? '' : pc.red(` (waits for ${waits})`);
  const claimed = claimed_by === undefined ? '' : ` (claimed by ${claimed_by})`;
  const why = reason === undefined ? '' : ` (reason: ${reason})`;
  const last = result === undefined ? '' : ` (last result: ${result.outcome}, dispatch ${result.dispatch})`;
  const shownStatus = colour === undefined ? status : pc[colour](status);
  return `${pc.bold(id)} [P${priority}] ${shownStatus} ${content}${waiting}${last}${why}${claimed}`;
}

function showNote(pc: Colors, { id, type, content }: z.infer<typeof note>): string {
  return `${pc.bold(id)} ${pc.cyan(type)} ${content}`;
}

function showMessage(pc: Colors, { id, read, content }: z.infer<typeof message>): string {
  return `${pc.bold(id)} ${read ? pc.dim('read') : pc.yellow('unread')} ${content}`;
}

function showIteration(pc: Colors, each: z.infer<typeof iteration>): string {
  const state = each.complete
    ? pc.green('complete')
    : each.ended_at === undefined
      ? pc.yellow('running')
      : pc.dim('overtaken');
  const worked = each.tasks_worked.length === 0 ? '' : ` [${each.tasks_worked.join(', ')}]`;
  return `${pc.bold(`#${each.number}`)} ${each.started_at} ${state} ${each.summary ?? '(no summary)'}${worked}`;
}

function showFact(pc: Colors, each: z.infer<typeof fact>): string {
  const { id, subject, relation, object, task, dispatch, closed_by } = each;
  const closed = closed_by === undefined ? '' : pc.dim(` (closed by dispatch ${closed_by})`);
  return `${pc.bold(id)} ${subject} ${relation} ${object} [task:${task}] dispatch ${dispatch}${closed}`;
}

/** A record as one line a field; a record inside it on one line. */
function showFields(pc: Colors, fields: Readonly<Record<string, unknown>>): string {
  const width = Math.max(...Object.keys(fields).map((key) => key.length));
  const shown = (value: unknown): string =>
    typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([key, inner]) => `${inner} ${key}`)
          .join(', ')
      : clipText(oneLine(String(value ?? '-')), 200);
  return Object.entries(fields)
    .map(([key, value]) => `${pc.dim(key.padEnd(width))}  ${shown(value)}`)
    .join('\n');
}

function list<Item>(
  pc: Colors,
  items: readonly Item[],
  show: (pc: Colors, item: Item) => string,
  none: string,
): string {
  return items.length === 0 ? none : items.map((item) => show(pc, item)).join('\n');
}

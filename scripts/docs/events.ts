import { jsonSchema } from '../../src/contracts/json-schemas.js';
import type { LearningEvent } from '../../src/contracts/learning-events.js';
import type { SessionEvent } from '../../src/contracts/session-events.js';

/** Sections that are written from the schemas of events. */

/** When each event is written. */
const WHEN: Readonly<Record<SessionEvent['type'], string>> = {
  'fact.recorded': 'a result was read: what it told, and the facts that do not follow from that',
  'fact.retracted': 'someone retracted or corrected a fact',
  'fact.restored': 'someone made a fact hold again',
  'dispatch.rejected': 'a result could not be used; it is kept whole in `DISPATCH_REJECTED`',
  'task.added': 'a task came onto the board',
  'task.status': 'the status of a task was set',
  'task.priority': 'the priority of a task was set',
  'task.depends': 'a task waits for others',
  'task.undepends': 'a task no longer waits for others',
  'task.content': 'a task was worded differently',
  'task.deleted': 'a task left the board',
  'task.claimed': 'an agent took a task',
  'task.released': 'a task that was taken is free again',
  'note.added': 'a note was written',
  'note.edited': 'a note was changed',
  'note.deleted': 'a note was removed',
  'inbox.added': 'a message to the agents came in',
  'inbox.read': 'a message was read',
  'question.answered': 'someone answered what an agent asked',
  'iteration.started': 'an iteration began',
  'iteration.completed': 'an iteration ended',
  'iteration.summary': 'an iteration was summed up',
  'session.opened': 'the session was given a title, a goal or a project',
  'session.completed': 'the session ended',
  'session.restarted': 'a completed session continues',
  'session.archived': 'the session takes no more results',
  'session.reopened': 'an archived session accepts results again',
  'session.checkpoint': 'the whole state, so that what came before may be removed',
  'session.history': 'a session was imported: an event of its file, which is listed and changes nothing',
  'run.initialized': 'the session follows a plan from now on',
  'run.ended': 'the session follows no plan any more',
  'progress.rebuilt': 'the file of the plan was read again, and had changed',
  'trace.appended': 'entries of a trace came in',
};

const WHEN_LEARNED: Readonly<Record<LearningEvent['type'], string>> = {
  proposed: 'something may become a learning',
  accepted: 'a person made a proposal a learning',
  rejected: 'a proposal is declined or outdated',
  retracted: 'a learning is no longer valid',
  observed: 'a review demanded something: what comes again becomes a proposal',
  checkpoint: 'a session or the project was removed: this event has the remaining state',
};

interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Shape[];
  readonly anyOf?: readonly Shape[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Shape>>;
}

const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
const refOf = ({ $ref }: Shape) => $ref?.replace('#/$defs/', '');

/** The type of a field in words. */
function typeOf(shape: Shape): string {
  const part = refOf(shape);
  if (part !== undefined) return code(part);
  if (shape.const !== undefined) return code(shape.const);
  if (shape.enum !== undefined) return shape.enum.map(code).join(', ');
  const options = shape.anyOf ?? shape.oneOf;
  if (options !== undefined) return options.map(typeOf).join(' or ');
  if (shape.items !== undefined) return `list of ${typeOf(shape.items)}`;
  return shape.type ?? 'any JSON value';
}

/** The fields of a part, and of what is inside it without a name, each by its path. */
function rowsOf(shape: Shape, path = ''): string[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}${name}`;
    const optional = shape.required?.includes(name) ? '' : '?';
    const about = (field.description ?? '').replaceAll('|', '\\|');
    const inner = field.properties !== undefined ? rowsOf(field, `${at}.`) : [];
    const items = field.items?.properties !== undefined ? rowsOf(field.items, `${at}[].`) : [];
    return [`| \`${at}${optional}\` | ${typeOf(field)} | ${about} |`, ...inner, ...items];
  });
}

const tableOf = (shape: Shape) => {
  const rows = rowsOf(shape);
  return rows.length === 0 ? '' : ['| field | type | meaning |', '|---|---|---|', ...rows].join('\n');
};

interface Log {
  readonly events: readonly { readonly name: string; readonly data: Shape }[];
  readonly envelope: Shape;
}

function logOf(schema: string): Log {
  const { oneOf = [], $defs = {} } = jsonSchema(schema) as Shape;
  const names = oneOf.map((each) => refOf(each) ?? '');
  const events = names.map((of) => {
    const { type, data } = $defs[of]?.properties ?? {};
    return { name: String(type?.const), data: data ?? {} };
  });
  const last = $defs[names.at(-1) ?? ''] ?? {};
  const { data: _, ...outside } = last.properties ?? {};
  return {
    events,
    // `v` and `type` differ by event, and the text says so.
    envelope: {
      ...last,
      properties: { ...outside, type: { ...outside.type, const: undefined, type: 'string' } } as never,
    },
  };
}

const fieldNames = (shape: Shape) =>
  Object.keys(shape.properties ?? {})
    .map((name) => code(shape.required?.includes(name) ? name : `${name}?`))
    .join(', ');

/** A row for each event: when it is written, and the names of its fields. */
const eventRows = ({ events }: Log, when: Readonly<Record<string, string>>) =>
  events.map(({ name, data }) => `| ${code(name)} | ${when[name]} | ${fieldNames(data)} |`).join('\n');

/** The sections on events, from the schemas. */
export function eventSections(): string {
  const session = logOf('session.event');
  const learning = logOf('learning.event');
  const recorded = session.events.find(({ name }) => name === 'fact.recorded');
  return `## Events

Everything else is derived from events. They are only appended, and never changed. A \`?\` marks an optional field. Type and meaning of each field, and the parts that
the tables name, are in the JSON Schemas [\`session.event\`](../../schemas/session.event.json) and [\`learning.event\`](../../schemas/learning.event.json). Ignore fields
and types that you do not know.

Every event has these fields; \`project\` replaces \`session\` in events of learnings. An event counts only in the log that it names. If
several commands were decided on one state, the first one counts.

${tableOf(session.envelope)}

### Events of a session

| event | written when | fields of \`data\` |
|---|---|---|
${eventRows(session, WHEN)}

The event of a result, \`fact.recorded\`:

${tableOf(recorded?.data ?? {})}

### Events of learnings

| event | written when | fields of \`data\` |
|---|---|---|
${eventRows(learning, WHEN_LEARNED)}
`;
}

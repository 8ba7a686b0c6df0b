import { jsonSchema } from '../../src/contracts/json-schemas.js';
import type { LearningEvent } from '../../src/contracts/learning-events.js';
import { isCommandEvent, type SessionEvent } from '../../src/contracts/session-events.js';
import type { Written } from './pages.js';

/** A page that is written from the schemas of events. */

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
  'session.opened': 'the session was given a goal, a project or settings',
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
  rejected: 'a person decided against a proposal',
  edited: 'a learning, or a proposal that waits, was changed',
  superseded: 'another learning took the place of one',
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
  if (part !== undefined) return `[${part}](#${part.toLowerCase()})`;
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
  readonly events: readonly { readonly name: string; readonly data: Shape; readonly versions: unknown[] }[];
  readonly parts: readonly [string, Shape][];
  readonly envelope: Shape;
}

function logOf(schema: string): Log {
  const { oneOf = [], $defs = {} } = jsonSchema(schema) as Shape;
  const names = oneOf.map((each) => refOf(each) ?? '');
  const events = names.map((of) => {
    const { v, type, data } = $defs[of]?.properties ?? {};
    return { name: String(type?.const), data: data ?? {}, versions: [...(v?.enum ?? [v?.const])] };
  });
  const last = $defs[names.at(-1) ?? ''] ?? {};
  const { data: _, ...outside } = last.properties ?? {};
  return {
    events,
    parts: Object.entries($defs).filter(([name]) => !names.includes(name)),
    // `v` and `type` differ by event, and the text says so.
    envelope: {
      ...last,
      properties: { ...outside, type: { ...outside.type, const: undefined, type: 'string' } } as never,
    },
  };
}

function sections({ events, parts }: Log, when: Readonly<Record<string, string>>): string {
  const shown = events.map(({ name, data, versions }) => {
    const version = versions.length > 1 ? ` Versions ${versions.join(' and ')}.` : '';
    const command =
      when === WHEN && !isCommandEvent({ type: name } as SessionEvent) ? ' It is not a command.' : '';
    return `### ${name}\n\nWritten when ${when[name]}.${version}${command}\n\n${tableOf(data)}`;
  });
  const named = parts.map(([name, part]) => `### ${name}\n\n${part.description ?? ''}\n\n${tableOf(part)}`);
  return [...shown, ...named].join('\n\n').replaceAll('\n\n\n', '\n');
}

export function eventsPage(): Written {
  const session = logOf('session.event');
  const learning = logOf('learning.event');
  const index = ({ events }: Log, when: Readonly<Record<string, string>>) =>
    events.map(({ name }) => `| [\`${name}\`](#${name.replaceAll('.', '')}) | ${when[name]} |`).join('\n');
  const page = `# Events

You find every stored event and its fields here. Everything else is derived from events; they are only appended, and never changed. This
page is generated from the schemas of the code, which are also JSON Schemas: [\`session.event\`](../../schemas/session.event.json) and
[\`learning.event\`](../../schemas/learning.event.json).

An event of a session is stored under \`session.<session>.result.<number>\` or \`session.<session>.command.<type>\`, one of learnings under \`learning.<project>.<type>\`:
[Subjects and streams](subjects-and-streams.md) names the streams. Read them with the plain \`nats\` CLI:

\`\`\`sh
nats stream get SESSION_demo --last-for 'session.demo.result.*'
\`\`\`

What a result says is stored once, in \`dispatch.outcome\`. \`facts\` holds only what does not follow from it, such as explicit facts; the
rules derive the others at each reading, and a log is half as large. To get all facts of an event, call \`factsOfEvent\` of
\`throughline/facts\`, or ask \`tool.fact-find\`.

A \`?\` marks an optional field. Ignore unknown fields and types: a later version may add some, as [Versions](../explanation/versions.md#events)
explains.

## What every event has

${tableOf(session.envelope)}

An event of learnings has \`project\` instead of \`session\`. The content of an event is in \`data\`; the tables below start there. An event counts
only in the log that it names. If several commands were decided on one state, the first one counts.

## Events of a session

| event | written when |
|---|---|
${index(session, WHEN)}

${sections(session, WHEN)}

## Events of learnings

| event | written when |
|---|---|
${index(learning, WHEN_LEARNED)}

${sections(learning, WHEN_LEARNED)}
`;
  return { 'docs/reference/events.md': page };
}

import { z } from 'zod';
import { SPAN_PATTERN } from '../shared/text.js';
import { compileRequest, pastPromptRequest } from './compile-request.js';
import { FACT_TAGS } from './kinds.js';
import {
  CLAIM_TOOLS,
  EXPORT_TOOLS,
  FORGET_TOOLS,
  PROMPT_TOOLS,
  REJECTED_TOOLS,
  RETENTION_TOOLS,
} from './lifecycle-requests.js';
import { COMPILE_SUBJECT, PAST_PROMPT_SUBJECT } from './names.js';
import { TIMELINE_KINDS } from './replies/dispatch-result.js';
import {
  RUN_INIT_SUBJECT,
  RUN_STATUS_SUBJECT,
  TOOL_NAMES,
  type ToolName,
  TRACE_APPEND_SUBJECT,
  TRACE_COMPACT_SUBJECT,
  TRACE_GET_SUBJECT,
  TRACE_PIN_SUBJECT,
  TRACE_RECORD_SUBJECT,
} from './request-names.js';
import { taskId } from './results.js';
import { PLAN_STATUSES, runInitRequest, runStatusRequest } from './run-request.js';
import { oneOf } from './schema-fields.js';
import { NOTE_TYPES, sessionSettings } from './session-meta-events.js';
import { DEFAULT_PRIORITY, priority, TASK_STATUSES } from './task-events.js';
import { between, cursor, limit, text, tool, view, viewOfNone } from './tool-shape.js';
import { traceAppendRequest, traceCompactRequest, traceGetRequest, tracePinRequest } from './trace-entry.js';

export {
  COMMAND_NAMES,
  type CommandName,
  isCommand,
  isToolName,
  type QueryName,
  TOOL_NAMES,
  type ToolName,
  toolSubject,
} from './request-names.js';

/**
 * The tools of the service `session-tools`, one subject `tool.<name>` each, JSON in and out. The endpoints, the SDK's
 * `tools` and the commands under `throughline tool` are made from this table.
 */

const MAX_CONTENT = 10_000;
const MAX_SPEC = 200_000;
const MAX_ITERATION = 1_000_000_000;
/** Also the limit of dependencies of a task. */
export const MAX_IDS = 200;

const content = text(MAX_CONTENT);
const work = content.describe('The work to do.');
const said = content.describe('The text.');
const agent = text(128).describe('Name of the agent.');
const status = oneOf('Status of the task; remaining means pending.', TASK_STATUSES);
const noteType = oneOf('The kind of note.', NOTE_TYPES);
// Far from the largest integer, since each iteration adds one.
const number = z
  .int()
  .positive('must be a number of an iteration, 1 or more')
  .max(MAX_ITERATION, `must be at most ${MAX_ITERATION}`)
  .describe('Number of the iteration. Default: the running or next one.');
const flag = z.boolean().default(false);
const id = text(64).describe('Its id: TAS-12, tas-12, 12, or a unique prefix.');
const factKey = text(64).describe('Its id, such as M7, or a unique prefix of its hash.');
const person = text(128).default('a person');
const ids = z.union([
  id.transform((one) => [one]),
  z.array(id).min(1, 'must name at least one').max(MAX_IDS, `must name at most ${MAX_IDS}`),
]);

/** Any of the words matches. */
const anyOf = <Word extends z.ZodType<string>>(word: Word) =>
  z.union([
    word.transform((one) => [one]),
    z.array(word).min(1, 'must name at least one').max(20, 'must name at most 20'),
  ]);

export const TOOLS = {
  'task-add': tool('add a task', '--content "Write the parser" --priority 1 --depends-on TAS-1', {
    content: work,
    priority: priority.default(DEFAULT_PRIORITY),
    status: status.default('remaining'),
    dependsOn: ids.optional().describe('Tasks that it waits for.'),
  }),
  'task-status': tool('set the status of a task', '--id TAS-1 --status completed', {
    id,
    status,
    reason: content.optional().describe('Why, in words.'),
  }),
  'task-priority': tool(
    'set the priority of a task: 0 critical, 1 high, 2 medium, 3 low, 4 backlog',
    '--id TAS-1 --priority 0',
    { id, priority },
  ),
  'task-depends': tool('make a task wait for others', '--id TAS-2 --depends-on TAS-1', {
    id,
    dependsOn: ids.describe('The tasks that it waits for.'),
  }),
  'task-undepends': tool('stop a task from waiting for others', '--id TAS-2 --depends-on TAS-1', {
    id,
    dependsOn: ids.describe('The tasks that it waits for.'),
  }),
  'task-content': tool('change the text of a task', '--id TAS-1 --content "Write the lexer and the parser"', {
    id,
    content: work,
  }),
  'task-delete': tool('delete a task', '--id TAS-1', { id }),
  'task-next': tool('show the next ready task; --claim claims it for an agent', '--claim agent-1', {
    claim: agent.optional().describe('The agent that claims the task, or has claimed it.'),
    id: id.optional().describe('A task of the board or the plan. Default: the next one.'),
  }),
  'task-release': tool(
    'give a claimed task back, so that another agent can take it',
    '--id TAS-1 --note "The parser works, the printer does not"',
    {
      id,
      claim: agent.optional().describe('The agent that claims the task, or has claimed it.'),
      note: content.optional().describe('A note for the next agent of this task.'),
    },
  ),
  'task-list': view('list the tasks', '--status remaining', { status: status.optional() }),
  'note-add': tool(
    'write a note for later agents',
    '--content "The CI machine has no docker" --type learning',
    { content: said, type: noteType.default('learning') },
  ),
  'note-edit': tool('change a note', '--id NOT-1 --type tip', {
    id,
    content: said.optional(),
    type: noteType.optional(),
  }),
  'note-delete': tool('delete a note', '--id NOT-1', { id }),
  'note-list': view('list the notes', '--type stuck', { type: noteType.optional() }),
  'inbox-add': tool(
    'leave a message for the next agent; one that begins with @human is for a person',
    '--content "Please look at the failing build first"',
    { content: said },
  ),
  'inbox-mark-read': tool('mark a message as read', '--id MSG-1', { id }),
  'inbox-list': view('list the messages that were not read', '--all', {
    all: flag.describe('Include read messages.'),
  }),
  'blocker-answer': tool(
    'answer the open question of a task: later prompts show it',
    '--task 2.1 --answer "Use port 9464"',
    {
      task: taskId,
      answer: content.describe('The answer.'),
      question: content
        .optional()
        .describe('The question it answers. Default: every open question of the task.'),
      by: person.describe('Who answers.'),
    },
  ),
  'iteration-start': tool('begin an iteration', '', { number: number.optional() }),
  'iteration-complete': tool('end an iteration', '', { number: number.optional() }),
  'iteration-summary': tool('summarize an iteration', '--summary "Parser done, all tests pass"', {
    summary: content.describe('Summary of the iteration.'),
    number: number.optional(),
    tasksWorked: ids.optional().describe('Tasks that were worked on.'),
    replace: flag.describe('Replace an existing summary.'),
  }),
  'iteration-list': view('list the iterations', '', {}),
  'session-open': tool(
    'set the title and the goal of the session',
    '--title "Query parser" --goal "A parser for the query language" --spec-path specs/parser.md',
    {
      title: text(200).optional().describe('Title, shown in lists; one line, may be changed.'),
      goal: content.optional().describe('Goal of the session.'),
      spec: text(MAX_SPEC).optional().describe('The specification itself.'),
      specPath: text(1024).optional().describe('Path of the specification.'),
      project: text(64).optional().describe('The project whose learnings it uses.'),
      settings: sessionSettings.optional().describe('Settings of its prompts.'),
    },
  ),
  'session-complete': tool(
    'complete the session when all tasks are done, and no review asks for a fix',
    '--force --reason "The rest moved to the next release"',
    {
      force: flag.describe('Complete it although tasks or fixes are open; needs a reason.'),
      reason: content.optional().describe('Why, in words.'),
    },
  ),
  'session-restart': tool('reopen a completed session', '--reason "One more fix"', {
    reason: content.optional().describe('Why, in words.'),
  }),
  'session-archive': tool(
    'archive the session: it becomes read-only, and a snapshot replaces its log',
    '--reason "Shipped in 2.0"',
    { reason: content.optional().describe('Why, in words.') },
  ),
  'session-reopen': tool('reopen an archived session', '--reason "A bug was found"', {
    reason: content.optional().describe('Why, in words.'),
  }),
  'session-show': view('show the figures of the session', '', {}),
  'fact-find': view(
    'find facts, where they come from and what closed them',
    '--text "parser test" --is all',
    {
      text: text(1000).optional().describe('Its id, a unique prefix of it, or words that it contains.'),
      task: text(128).optional().describe('Only facts from results of this task.'),
      subject: text(1024).optional().describe('Only facts about this, such as a file.'),
      relation: anyOf(text(128)).optional().describe('Only facts with this relation, or one of these.'),
      tag: anyOf(z.enum(FACT_TAGS)).optional().describe('Only facts with this tag, or one of these.'),
      is: oneOf('Only valid facts, only those that were closed, or all. Default: open.', [
        'open',
        'closed',
        'all',
      ]).optional(),
      limit: limit(200, 20),
      cursor,
    },
  ),
  'dispatch-show': view('show what became of a result, once the session has it', '--dispatch 7', {
    dispatch: z
      .int()
      .positive('must be a DISPATCH sequence, 1 or more')
      .describe("A DISPATCH sequence, from a publisher's PubAck."),
    timeoutMs: between(0, 600_000)
      .optional()
      .describe('Longest wait in milliseconds, as afterTimeoutMs of a prompt.'),
  }),
  'plan-show': view('show the plan, what is next, and what came of each task', '--status blocked', {
    id: text(200).optional().describe('Only this task of the plan, with its prompt and requirements.'),
    status: oneOf('Only tasks with this status.', PLAN_STATUSES).optional(),
  }),
  'session-list': viewOfNone(
    'list the sessions: those that wait for a person first, then stalled ones, then the newest',
    '--stalled',
    {
      text: text(200)
        .optional()
        .describe('Only sessions with these words, as in title, goal, questions or files.'),
      status: oneOf('Only sessions that are open, completed, or archived.', [
        'open',
        'completed',
        'archived',
      ]).optional(),
      names: z.array(text(64)).max(200, 'must name at most 200').optional().describe('Only these sessions.'),
      active: flag.describe('Only open sessions with an event within 24 hours.'),
      olderThan: z
        .string()
        .regex(SPAN_PATTERN, 'must be a number with m, h or d, such as 90m, 12h or 30d')
        .optional()
        .describe('Only sessions without an event for this long, such as 30d.'),
      archived: flag.describe('Include archived sessions.'),
      project: text(64).optional().describe('Only sessions of this project.'),
      stalled: flag.describe('Only sessions with a stalled task.'),
      brief: flag.describe('Only names and times; only the filter text works with it.'),
      limit: limit(200, 50),
      cursor,
    },
  ),
  'fact-show': view('show a fact, its history and the prompts that showed it', '--id 3f2a', {
    id: factKey,
  }),
  'fact-retract': tool(
    'withdraw a wrong fact: no later prompt shows it',
    '--id 3f2a --reason "Never agreed"',
    {
      id: factKey,
      reason: content.optional().describe('Why, in words.'),
      by: person.describe('Who retracts it.'),
    },
  ),
  'fact-correct': tool('replace what a fact says', '--id 3f2a --text "The port is 9464"', {
    id: factKey,
    text: content.describe('What it should say.'),
    reason: content.optional().describe('Why, in words.'),
    by: person.describe('Who corrects it.'),
  }),
  'fact-restore': tool(
    'make a fact hold again, whatever ended it',
    '--id M7 --reason "It was about the web app"',
    {
      id: factKey,
      reason: content.optional().describe('Why, in words.'),
      by: person.describe('Who restores it.'),
    },
  ),
  'file-list': view('list the files that results touched', '--text parser', {
    text: text(200).optional().describe('Only files whose path contains these words.'),
    limit: limit(200, 50),
  }),
  'timeline-list': view('list what happened, the newest first', '--kinds result rejected --limit 20', {
    kinds: z
      .array(z.enum(TIMELINE_KINDS))
      .min(1, 'must name at least one')
      .max(TIMELINE_KINDS.length, `must name at most ${TIMELINE_KINDS.length}`)
      .optional()
      .describe('Only entries of these kinds.'),
    task: text(128).optional().describe('Only entries of this task, of the board or the plan.'),
    failed: flag.describe('Only what failed: bad verdicts, rejected results, failed actions.'),
    limit: limit(500, 100),
    cursor,
    after: z
      .int()
      .nonnegative('must be a session sequence, 0 or more')
      .optional()
      .describe('Only entries after this session sequence.'),
    upTo: z
      .int()
      .positive('must be a session sequence, 1 or more')
      .optional()
      .describe('Only entries up to this session sequence.'),
  }),
  'ledger-show': view('show what the ledgers know about a task', '--task 2.1', {
    task: text(128).describe('Id of the task, of the board or the plan.'),
  }),
  'trace-list': view('list the intents that have a trace', '', { limit: limit(200, 50), cursor }),
  'snapshot-show': view('show the stored snapshot in numbers', '', {
    whole: flag.describe('Include the text of the snapshot.'),
  }),
  'telemetry-show': view('show what was counted of the session: results, prompts, progress', '', {}),
  ...FORGET_TOOLS,
  ...RETENTION_TOOLS,
  ...EXPORT_TOOLS,
  ...REJECTED_TOOLS,
  ...PROMPT_TOOLS,
  ...CLAIM_TOOLS,
  'health-show': viewOfNone('show how services, streams and server do', '', {
    brief: flag.describe('Only services and results, without findings, which is cheap.'),
  }),
} as const satisfies Readonly<Record<ToolName, object>>;

/** Tools for the whole installation: they name no session, and users limited to one session may not call them. */
export type WideTool = {
  [Name in ToolName]: (typeof TOOLS)[Name]['scope'] extends 'no session' ? Name : never;
}[ToolName];

export function isWideTool(name: ToolName): name is WideTool {
  return TOOLS[name].scope === 'no session';
}

/** Read-only tools, for the reader role. */
export const READING_TOOLS: readonly ToolName[] = TOOL_NAMES.filter((name) => TOOLS[name].reads);

type Arguments<Name extends ToolName> = (typeof TOOLS)[Name]['arguments'];
/** The input of a tool. */
export type ToolInput<Name extends ToolName> = Given<Name> & SessionOf[(typeof TOOLS)[Name]['scope']];

interface SessionOf {
  readonly session: { readonly session: string };
  readonly 'any session': { readonly session?: string | undefined };
  readonly 'no session': object;
}

// An input without fields would be a record that may not even have the session.
type Given<Name extends ToolName> = string extends keyof z.input<Arguments<Name>>
  ? object
  : z.input<Arguments<Name>>;
/** The input with its defaults, without the session. */
export type ToolArguments<Name extends ToolName> = z.output<Arguments<Name>>;

interface SessionRequest {
  readonly summary: string;
  readonly request: z.ZodType;
  /** True if it changes nothing: readers may send it. */
  readonly reads?: true;
}

/** The requests about a session besides its tools. */
export const SESSION_REQUESTS = {
  [COMPILE_SUBJECT]: { summary: 'compile the next prompt', request: compileRequest },
  // A normal compile is counted and stored as if for an agent.
  [PAST_PROMPT_SUBJECT]: {
    ...{ summary: 'compile a prompt as it was; it is neither counted nor kept', reads: true },
    request: pastPromptRequest,
  },
  [RUN_INIT_SUBJECT]: { summary: 'track the progress of a session in a tasks.md', request: runInitRequest },
  [RUN_STATUS_SUBJECT]: {
    ...{ summary: 'show the progress of a run and what each task needs next', reads: true },
    request: runStatusRequest,
  },
  [TRACE_APPEND_SUBJECT]: { summary: 'add entries to the trace of an intent', request: traceAppendRequest },
  [TRACE_RECORD_SUBJECT]: { summary: 'the same without an answer, for volume', request: traceAppendRequest },
  [TRACE_COMPACT_SUBJECT]: {
    ...{ summary: 'the compacted history of an intent', reads: true },
    request: traceCompactRequest,
  },
  [TRACE_GET_SUBJECT]: {
    ...{ summary: 'an entry as its event keeps it, with its output', reads: true },
    request: traceGetRequest,
  },
  [TRACE_PIN_SUBJECT]: {
    summary: 'keep what an entry says as a constraint of its intent',
    request: tracePinRequest,
  },
} as const satisfies Readonly<Record<string, SessionRequest>>;

export const READING_REQUESTS: readonly string[] = Object.entries<SessionRequest>(SESSION_REQUESTS).flatMap(
  ([subject, { reads }]) => (reads ? [subject] : []),
);

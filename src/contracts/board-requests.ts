import { z } from 'zod';
import { statementScope } from './recorded-fact.js';
import {
  answerView,
  inboxMessage,
  iterationView,
  note,
  planClaim,
  taskView,
} from './replies/session-reply.js';
import { between, command, flag, oneOrMore, person, query, speaker, text } from './request-row.js';
import { taskId } from './results.js';
import { count, list, oneOf, sequence, string, strings } from './schema-fields.js';
import { NOTE_TYPES } from './session-meta-events.js';
import { DEFAULT_PRIORITY, priority, TASK_STATUSES } from './task-events.js';

/** Requests about the tasks, notes, messages and iterations of a session. */

const MAX_CONTENT = 10_000;
const MAX_ITERATION = 1_000_000_000;
/** Also the limit of dependencies of a task. */
export const MAX_IDS = 200;

const content = text(MAX_CONTENT);
const work = content.describe('The work to do.');
const noteText = content.describe('The text.');
const agent = text(128).describe('Name of the agent.');
const status = oneOf('Status of the task; remaining means pending.', TASK_STATUSES);
const noteType = oneOf('The kind of note.', NOTE_TYPES);
// Far from the largest integer, since each iteration adds one.
const number = z
  .int()
  .positive('must be a number of an iteration, 1 or more')
  .max(MAX_ITERATION, `must be at most ${MAX_ITERATION}`)
  .describe('Number of the iteration. Default: the running or next one.');
const id = text(64).describe('Its id: TAS-12, tas-12, 12, or a unique prefix.');
const ids = oneOrMore(id, MAX_IDS);
const noteId = text(64).describe('Its id, such as NOT-1 or N1.');
const messageId = text(64).describe('Its id, such as MSG-1.');

const task = z.object({ task: taskView.describe('The task as it is now.'), sequence });
const oneNote = z.object({ note: note.describe('The note as it is now.'), sequence });
const message = z.object({ message: inboxMessage.describe('The message as it is now.'), sequence });
const iteration = z.object({ iteration: iterationView.describe('The iteration as it is now.'), sequence });
const created = z
  .literal(true)
  .exactOptional()
  .describe('Set if the session did not exist, and begins with it.');

export const BOARD_REQUESTS = {
  'tool.task-add': command(
    'add a task',
    {
      cli: 'task add <content>',
      example: { content: 'Write the parser', priority: 1, dependsOn: ['TAS-1'] },
    },
    {
      content: work,
      priority: priority.default(DEFAULT_PRIORITY),
      status: status.default('remaining'),
      dependsOn: ids.optional().describe('Tasks that it waits for.'),
      ...speaker('adds it'),
    },
    task.extend({ created }),
  ),
  'tool.task-status': command(
    'set the status of a task',
    { cli: 'task done <id>', example: { id: 'TAS-1', status: 'completed' } },
    { id, status, reason: content.optional().describe('Why, in words.') },
    task,
  ),
  'tool.task-priority': command(
    'set the priority of a task, 0 (critical) to 4 (backlog)',
    { cli: 'task edit <id>', example: { id: 'TAS-1', priority: 0 } },
    { id, priority },
    task,
  ),
  'tool.task-depends': command(
    'make a task wait for others',
    { cli: 'task depends <id> <dependsOn>', example: { id: 'TAS-2', dependsOn: ['TAS-1'] } },
    { id, dependsOn: ids.describe('The tasks that it waits for.') },
    task,
  ),
  'tool.task-undepends': command(
    'stop a task from waiting for others',
    { cli: 'task depends <id> <dependsOn>', example: { id: 'TAS-2', dependsOn: ['TAS-1'] } },
    { id, dependsOn: ids.describe('The tasks that it waits for.') },
    task,
  ),
  'tool.task-content': command(
    'change the text of a task',
    { cli: 'task edit <id>', example: { id: 'TAS-1', content: 'Write the lexer and the parser' } },
    { id, content: work, ...speaker('writes it') },
    task,
  ),
  'tool.task-delete': command(
    'delete a task; the last 20 can be restored',
    { cli: 'task rm <id>', example: { id: 'TAS-1' } },
    { id, undo: flag.describe('Restore it instead.') },
    z.object({
      task: taskView.nullable().describe('Null: the task is deleted.'),
      deleted: string('Id of the deleted task.').exactOptional(),
      sequence,
    }),
  ),
  'tool.task-next': command(
    'show the next ready task; --claim claims it for an agent',
    { cli: 'task next', example: { claim: 'agent-1' } },
    {
      claim: agent.optional().describe('The agent that claims the task, or has claimed it.'),
      id: id.optional().describe('A task of the board or the plan. Default: the next one.'),
      ttlMs: between(1000, 3_600_000)
        .default(1_800_000)
        .describe('How long the claim holds, in milliseconds. Claiming again renews it.'),
    },
    z.object({
      task: taskView.nullable().describe('The next task of the board; null when none is ready.'),
      plan: planClaim.exactOptional(),
      sequence,
    }),
  ),
  'tool.task-release': command(
    'give a claimed task back, so that another agent can take it',
    { cli: 'task release <id>', example: { id: 'TAS-1', note: 'The parser works, the printer does not' } },
    {
      id,
      claim: agent.optional().describe('The agent that claims the task, or has claimed it.'),
      note: content.optional().describe('A note for the next agent of this task.'),
    },
    z.object({
      task: taskView.nullable().describe('The task as it is now; null for one of the plan.'),
      plan: planClaim.exactOptional(),
      sequence,
    }),
  ),
  'tool.task-list': query(
    'list the tasks',
    { cli: 'task ls', example: { status: 'remaining' } },
    { status: status.optional() },
    z.object({ tasks: list('The tasks.', taskView), sequence }),
  ),
  'tool.note-add': command(
    'write a note for later agents',
    {
      cli: 'note add <content>',
      example: { content: 'Its tests need docker', type: 'learning', paths: ['deploy/**'] },
    },
    { content: noteText, type: noteType.default('learning'), ...speaker('says it'), ...statementScope.shape },
    oneNote.extend({ created, keeps: count('How many statements a full session keeps.').exactOptional() }),
  ),
  'tool.note-edit': command(
    'change a note',
    { cli: 'note edit <id>', example: { id: 'NOT-1', type: 'tip' } },
    { id: noteId, content: noteText.optional(), type: noteType.optional(), person },
    oneNote,
  ),
  'tool.note-delete': command(
    'remove a note; the last 20 can be restored',
    { cli: 'note rm <id>', example: { id: 'NOT-1' } },
    { id: noteId, person },
    z.object({
      note: z.null().describe('Null: the note is deleted.'),
      deleted: string('Id of the note.'),
      sequence,
    }),
  ),
  'tool.note-list': query(
    'list the notes',
    { cli: 'note ls', example: { type: 'stuck' } },
    { type: noteType.optional() },
    z.object({ notes: list('The notes.', note), sequence }),
  ),
  'tool.inbox-add': command(
    'leave a message for the next agent, or with @human a person',
    { cli: 'inbox add <content>', example: { content: 'Please look at the failing build first' } },
    { content: noteText, ...speaker('leaves it') },
    message.extend({ created }),
  ),
  'tool.inbox-mark-read': command(
    'mark a message as read',
    { cli: 'inbox read <id>', example: { id: 'MSG-1' } },
    { id: messageId, unread: flag.describe('Mark it as unread again.'), person },
    message,
  ),
  'tool.inbox-list': query(
    'list the messages that were not read',
    { cli: 'inbox ls', example: { all: true } },
    { all: flag.describe('Include read messages.') },
    z.object({ messages: list('The messages.', inboxMessage), sequence }),
  ),
  'tool.blocker-answer': command(
    'answer the open question of a task: later prompts show it',
    { cli: 'answer <task> <answer>', example: { task: '2.1', answer: 'Use port 9464' } },
    {
      task: taskId.describe('The task that asked, or the id of its question.'),
      answer: content.describe('The answer.'),
      question: content.optional().describe('The question, or its first words. Default: the only open one.'),
      replaces: z.string().optional().describe('Refused unless this is the answer so far; empty for none.'),
      ...speaker('answers'),
    },
    z.object({
      answer: answerView.describe('The answer, with what it answers.'),
      ref: string('Id of its statement, such as N7.'),
      options: strings('The suggested answers, if it is none of them.').exactOptional(),
      sequence,
    }),
  ),
  'tool.iteration-start': command('begin an iteration', {}, { number: number.optional() }, iteration),
  'tool.iteration-complete': command('end an iteration', {}, { number: number.optional() }, iteration),
  'tool.iteration-summary': command(
    'summarize an iteration',
    { example: { summary: 'Parser done, all tests pass' } },
    {
      summary: content.describe('Summary of the iteration.'),
      number: number.optional(),
      tasksWorked: ids.optional().describe('Tasks that were worked on.'),
      replace: flag.describe('Replace an existing summary.'),
    },
    iteration,
  ),
  'tool.iteration-list': query(
    'list the iterations',
    { cli: 'session iterations' },
    {},
    z.object({ iterations: list('The iterations, the oldest first.', iterationView), sequence }),
  ),
} as const;

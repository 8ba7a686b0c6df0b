import { z } from 'zod';
import { ROLES } from '../kinds.js';
import type { ToolName } from '../request-names.js';
import { saidFields } from './compile-reply.js';
import { dispatchResult } from './dispatch-result.js';
import { HEALTH_REPLIES } from './health-reply.js';
import { PROMPT_REPLIES } from './prompt-trace.js';
import { REJECTED_REPLIES } from './rejected-reply.js';
import { count, place, sequence, time } from './reply-fields.js';
import { planShown } from './run-reply.js';
import { inboxMessage, iterationView, note, sessionView, taskView } from './session-reply.js';

/** The replies of the tools. */

const task = z.object({ task: taskView.describe('The task as it is now.'), sequence });
const oneNote = z.object({ note: note.describe('The note as it is now.'), sequence });
const message = z.object({ message: inboxMessage.describe('The message as it is now.'), sequence });
const iteration = z.object({ iteration: iterationView.describe('The iteration as it is now.'), sequence });
const session = z.object({ session: sessionView.describe('The session as it is now.'), sequence });

const foundFact = z
  .object({
    ...saidFields,
    id: z.string().describe('Id of the fact, made from its words.'),
    task: z.string().describe('The task of the result that said it.'),
    role: z.enum(ROLES).describe('The role of that result.'),
    dispatch: place('Sequence of that result in the DISPATCH stream.'),
    at: time('When that result arrived'),
    closed_by: place('Sequence of the dispatch that closed it; absent while it holds.').exactOptional(),
    closed_at: time('When that dispatch arrived').exactOptional(),
  })
  .meta({
    id: 'FoundFact',
    description: 'A fact with where it comes from and, once closed, what closed it.',
  });

export const TOOL_REPLIES = {
  'task-add': task,
  'task-status': task,
  'task-priority': task,
  'task-depends': task,
  'task-undepends': task,
  'task-content': task,
  'task-delete': z.object({
    task: z.null().describe('Null: there is no such task any more.'),
    deleted: z.string().describe('Id of the task.'),
    sequence,
  }),
  'task-next': z.object({
    task: taskView.nullable().describe('The next task; null when none is ready.'),
    sequence,
  }),
  'task-release': task,
  'task-list': z.object({ tasks: z.array(taskView).describe('The tasks.'), sequence }),
  'note-add': oneNote,
  'note-edit': oneNote,
  'note-delete': z.object({
    note: z.null().describe('Null: there is no such note any more.'),
    deleted: z.string().describe('Id of the note.'),
    sequence,
  }),
  'note-list': z.object({ notes: z.array(note).describe('The notes.'), sequence }),
  'inbox-add': message,
  'inbox-mark-read': message,
  'inbox-list': z.object({ messages: z.array(inboxMessage).describe('The messages.'), sequence }),
  'iteration-start': iteration,
  'iteration-complete': iteration,
  'iteration-summary': iteration,
  'iteration-list': z.object({
    iterations: z.array(iterationView).describe('The iterations, the oldest first.'),
    sequence,
  }),
  'session-open': session,
  'session-complete': session,
  'session-restart': session,
  'session-show': session,
  'fact-find': z.object({
    facts: z.array(foundFact).describe('The valid ones first, each the newest first.'),
    total: count('All facts that fit.'),
    sequence,
  }),
  'dispatch-show': dispatchResult,
  'plan-show': planShown,
  ...REJECTED_REPLIES,
  ...PROMPT_REPLIES,
  ...HEALTH_REPLIES,
} as const satisfies Readonly<Record<ToolName, z.ZodType>>;

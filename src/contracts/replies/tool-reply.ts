import { z } from 'zod';
import type { ToolName } from '../request-names.js';
import { list, mark, sequence, string } from '../schema-fields.js';
import { dispatchResult, REJECTED_REPLIES, timelineListed } from './dispatch-result.js';
import {
  factCorrected,
  factRestored,
  factRetracted,
  factShown,
  factsFound,
  filesListed,
} from './fact-reply.js';
import { HEALTH_REPLIES } from './health-reply.js';
import { CLAIM_REPLIES, EXPORT_REPLIES, FORGET_REPLIES, RETENTION_REPLIES } from './lifecycle-replies.js';
import { PROMPT_REPLIES } from './prompt-trace.js';
import { ledgerShown, planShown } from './run-reply.js';
import {
  answerView,
  inboxMessage,
  iterationView,
  note,
  planClaim,
  sessionList,
  sessionView,
  snapshotShown,
  taskView,
} from './session-reply.js';
import { tracesListed } from './trace-reply.js';

const task = z.object({ task: taskView.describe('The task as it is now.'), sequence });
const oneNote = z.object({ note: note.describe('The note as it is now.'), sequence });
const message = z.object({ message: inboxMessage.describe('The message as it is now.'), sequence });
const iteration = z.object({ iteration: iterationView.describe('The iteration as it is now.'), sequence });
const created = mark('Set if the session did not exist, and begins with it.');
const session = z.object({ session: sessionView.describe('The session as it is now.'), sequence });

export const TOOL_REPLIES = {
  'task-add': task.extend({ created }),
  'task-status': task,
  'task-priority': task,
  'task-depends': task,
  'task-undepends': task,
  'task-content': task,
  'task-delete': z.object({
    task: z.null().describe('Null: the task is deleted.'),
    deleted: string('Id of the task.'),
    sequence,
  }),
  'task-next': z.object({
    task: taskView.nullable().describe('The next task of the board; null when none is ready.'),
    plan: planClaim.exactOptional(),
    sequence,
  }),
  'task-release': z.object({
    task: taskView.nullable().describe('The task as it is now; null for one of the plan.'),
    plan: planClaim.exactOptional(),
    sequence,
  }),
  'task-list': z.object({ tasks: list('The tasks.', taskView), sequence }),
  'note-add': oneNote.extend({ created }),
  'note-edit': oneNote,
  'note-delete': z.object({
    note: z.null().describe('Null: the note is deleted.'),
    deleted: string('Id of the note.'),
    sequence,
  }),
  'note-list': z.object({ notes: list('The notes.', note), sequence }),
  'inbox-add': message.extend({ created }),
  'inbox-mark-read': message,
  'inbox-list': z.object({ messages: list('The messages.', inboxMessage), sequence }),
  'blocker-answer': z.object({ answer: answerView.describe('The answer, with what it answers.'), sequence }),
  'iteration-start': iteration,
  'iteration-complete': iteration,
  'iteration-summary': iteration,
  'iteration-list': z.object({
    iterations: list('The iterations, the oldest first.', iterationView),
    sequence,
  }),
  'session-open': session,
  'session-complete': session,
  'session-restart': session,
  'session-archive': session,
  'session-reopen': session,
  'session-show': session,
  'fact-find': factsFound,
  'dispatch-show': dispatchResult,
  'plan-show': planShown,
  'session-list': sessionList,
  'fact-show': factShown,
  'fact-retract': factRetracted,
  'fact-correct': factCorrected,
  'fact-restore': factRestored,
  'file-list': filesListed,
  'timeline-list': timelineListed,
  'ledger-show': ledgerShown,
  'trace-list': tracesListed,
  'snapshot-show': snapshotShown,
  ...FORGET_REPLIES,
  ...RETENTION_REPLIES,
  ...EXPORT_REPLIES,
  ...REJECTED_REPLIES,
  ...PROMPT_REPLIES,
  ...CLAIM_REPLIES,
  ...HEALTH_REPLIES,
} as const satisfies Readonly<Record<ToolName, z.ZodType>>;

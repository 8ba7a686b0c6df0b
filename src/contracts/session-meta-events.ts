import { z } from 'zod';
import { eventOf } from './event.js';
import { sessionSettings } from './session-settings.js';
import { opens, taskKey } from './task-events.js';

/** Events of notes, inbox, iterations, and of the session itself. */

export const NOTE_TYPES = ['learning', 'stuck', 'tip', 'decision'] as const;
export type NoteType = (typeof NOTE_TYPES)[number];

const iteration = z.int().nonnegative();

const noteKey = z.string().regex(/^NOT-[1-9]\d*$/);
const messageKey = z.string().regex(/^MSG-[1-9]\d*$/);

export const noteEvents = [
  eventOf('note.added', {
    note: noteKey,
    content: z.string(),
    type: z.enum(NOTE_TYPES),
    iteration,
    opens,
  }),
  eventOf('note.edited', {
    note: noteKey,
    content: z.string().optional(),
    type: z.enum(NOTE_TYPES).optional(),
  }),
  eventOf('note.deleted', { note: noteKey }),
] as const;

export const inboxEvents = [
  eventOf('inbox.added', { message: messageKey, content: z.string() }),
  eventOf('inbox.read', { message: messageKey }),
] as const;

const number = z.int().positive();

export const iterationEvents = [
  eventOf('iteration.started', { number }),
  eventOf('iteration.completed', { number, opens }),
  eventOf('iteration.summary', { number, summary: z.string(), tasks_worked: z.array(taskKey), opens }),
] as const;

export const lifecycleEvents = [
  eventOf('session.opened', {
    goal: z.string().optional(),
    spec: z.string().optional(),
    spec_path: z.string().optional(),
    project: z.string().optional(),
    settings: sessionSettings.optional(),
  }),
  eventOf('session.completed', { forced: z.boolean(), reason: z.string().optional() }),
  eventOf('session.restarted', { reason: z.string().optional() }),
] as const;

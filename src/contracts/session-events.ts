import { z } from 'zod';
import { EVENT_VERSION, type EventFormat, parseEvent, type Stored, timestamp } from './event.js';
import { FACT_TAGS } from './fact-tags.js';
import { ROLES } from './names.js';
import { ASSESSMENTS, IMPLEMENTER_STATUSES, SEVERITIES, taskId, testRun } from './results.js';
import { runEvents } from './run-request.js';
import { inboxEvents, iterationEvents, lifecycleEvents, noteEvents } from './session-meta-events.js';
import { taskEvents } from './task-events.js';
import { traceEvents } from './trace-entry.js';

/**
 * The events of a session stream, version 1. The subject of each names its type as well. Events are never
 * rewritten: a new shape is a new version beside the old one.
 */
const sequence = z.int().positive();

const recordedFact = z.object({
  /** Earlier versions wrote it; it follows from the words. */
  id: z.string().optional(),
  subject: z.string(),
  relation: z.string(),
  object: z.string(),
  tags: z.array(z.enum(FACT_TAGS)).readonly(),
  confidence: z.number().min(0).max(1).optional(),
});

const implementerOutcome = z.object({
  status: z.enum(IMPLEMENTER_STATUSES),
  summary: z.string(),
  files_modified: z.array(z.string()).optional(),
  tests: z.array(testRun).optional(),
  follow_up_actions: z.array(z.string()).optional(),
  blockers: z.array(z.string()).optional(),
  intent_id: z.string().optional(),
});

const reviewerOutcome = z.object({
  assessment: z.enum(ASSESSMENTS),
  strengths: z.array(z.string()).optional(),
  issues: z
    .array(
      z.object({
        severity: z.enum(SEVERITIES),
        file: z.string().optional(),
        message: z.string(),
        fix: z.string().optional(),
      }),
    )
    .optional(),
  required_fixes: z.array(z.string()).optional(),
  intent_id: z.string().optional(),
});

/** Up to which event the log was looked through: it holds no event by which this dispatch has counted. */
const checked = z.int().nonnegative().optional();

const dispatch = { sequence, task: taskId, at: timestamp, checked };

const factRecorded = z.object({
  v: z.literal(EVENT_VERSION),
  type: z.literal('fact.recorded'),
  at: timestamp,
  data: z.object({
    dispatch: z.discriminatedUnion('role', [
      z.object({ ...dispatch, role: z.literal('implementer'), outcome: implementerOutcome }),
      z.object({ ...dispatch, role: z.literal('reviewer'), outcome: reviewerOutcome }),
    ]),
    facts: z.array(recordedFact).readonly(),
    /** Facts that the dispatch gave beyond the limit. */
    facts_omitted: z.int().positive().optional(),
  }),
});

const dispatchRejected = z.object({
  v: z.literal(EVENT_VERSION),
  type: z.literal('dispatch.rejected'),
  at: timestamp,
  data: z.object({
    dispatch: z.object({ sequence, role: z.enum(ROLES).optional(), at: timestamp, checked }),
    error: z.object({ code: z.string(), reason: z.string() }),
  }),
});

export const sessionEvent = z.discriminatedUnion('type', [
  factRecorded,
  dispatchRejected,
  ...taskEvents,
  ...noteEvents,
  ...inboxEvents,
  ...iterationEvents,
  ...lifecycleEvents,
  ...runEvents,
  ...traceEvents,
]);

/** One event of a session. */
export type SessionEvent = z.output<typeof sessionEvent>;
export type FactRecorded = EventOf<'fact.recorded'>;
export type DispatchRejected = EventOf<'dispatch.rejected'>;
/** One event by its type. */
export type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;
export type DispatchOutcome = FactRecorded['data']['dispatch'];

/** An event with its place in the session's log. */
export type StoredEvent = Stored<SessionEvent>;

/** The events of session logs. */
export const SESSION_EVENTS: EventFormat<SessionEvent> = {
  kind: 'session',
  parse: (json) => parseEvent(sessionEvent, json),
};

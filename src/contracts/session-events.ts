import { z } from 'zod';
import { RESULT_KEY_LENGTH } from './accepted-result.js';
import { EVENT_VERSION, type EventFormat, parseEvent, type Stored, timestamp } from './event.js';
import { ROLES, type Role, VERDICTS, verdictIn, verdictsOf } from './kinds.js';
import { recordedFact, recordedRepair } from './recorded-fact.js';
import { resultEventJson } from './result-event-json.js';
import { reviewIssue, taskId, testRun } from './results.js';
import { runEvents } from './run-request.js';
import {
  checkpointEvents,
  inboxEvents,
  iterationEvents,
  lifecycleEvents,
  noteEvents,
} from './session-meta-events.js';
import { taskEvents } from './task-events.js';
import { traceEvents } from './trace-entry.js';

/** The events of a session stream. The subject of each names its type as well. */
const sequence = z.int().positive().describe('Sequence in the DISPATCH stream.');

/** What every kind of result may have told: a kind has some of it. */
const outcome = z
  .object({
    status: z.enum(VERDICTS).optional().describe('Verdict of work.'),
    assessment: z.enum(VERDICTS).optional().describe('Verdict of a review.'),
    summary: z.string().optional().describe('What was done or found.'),
    files_modified: z.array(z.string()).optional().describe('Files that were changed.'),
    tests: z.array(testRun).optional().describe('Test commands that were run.'),
    follow_up_actions: z.array(z.string()).optional().describe('What is left to do.'),
    blockers: z.array(z.string()).optional().describe('What keeps the task from going on.'),
    strengths: z.array(z.string()).optional().describe('What is good about the work.'),
    issues: z.array(reviewIssue).optional().describe('What is wrong with the work.'),
    required_fixes: z.array(z.string()).optional().describe('What must be fixed.'),
    intent_id: z.string().optional().describe('The intent in whose trace it stands.'),
    branch: z.string().optional().describe('The git branch that it was done on.'),
    history: z.literal(true).optional().describe('It is from before the session: ledgers leave it out.'),
  })
  .meta({ id: 'Outcome', description: 'What a result told, beside its facts.' });

/** Up to which event the log was looked through: it holds no event by which this dispatch has counted. */
const checked = z
  .int()
  .nonnegative()
  .optional()
  .describe(
    'Up to which event the log was looked through: it holds no event by which this dispatch has counted.',
  );

/** Says which result the dispatch is, when it is published again: see `resultKey`. */
const resultKey = z
  .string()
  .length(RESULT_KEY_LENGTH)
  .optional()
  .describe('Says which result the dispatch is, when it is published again.');

const dispatch = {
  sequence,
  task: taskId,
  at: timestamp.describe('When it was published, ISO 8601 in UTC.'),
  checked,
  result_key: resultKey,
};

/** Whether an outcome has a verdict of its kind, where its kind gives one. */
function hasVerdict({ role, outcome }: { role: Role; outcome: Outcome }): boolean {
  const verdicts = verdictsOf(role);
  const verdict = verdictIn(role, outcome);
  return verdict === undefined ? verdicts.length === 0 : verdicts.includes(verdict);
}

const factRecorded = z.object({
  v: z.literal(EVENT_VERSION).describe('Version of the format of the event.'),
  type: z.literal('fact.recorded').describe('Type of the event.'),
  at: timestamp.describe('When it happened, ISO 8601 in UTC.'),
  data: z
    .object({
      dispatch: z
        .object({
          ...dispatch,
          role: z.enum(ROLES).describe('The role that it was published as.'),
          outcome: outcome.describe('What it told, beside its facts.'),
        })
        .refine(hasVerdict)
        .describe('The result.'),
      facts: z
        .array(recordedFact)
        .readonly()
        .describe('The facts that it gave in its own words. The others follow from the outcome.'),
      facts_complete: z
        .literal(true)
        .optional()
        .describe('The outcome was cut for this event, so `facts` has those that would follow from it, too.'),
      facts_omitted: z.int().positive().optional().describe('Facts that the dispatch gave beyond the limit.'),
      repairs: z
        .array(recordedRepair)
        .readonly()
        .optional()
        .describe('What was repaired or skipped, and cut for this event; the first of them.'),
      repairs_omitted: z.int().positive().optional().describe('Repairs beyond those.'),
    })
    .describe('What happened.'),
});

const dispatchRejected = z.object({
  v: z.literal(EVENT_VERSION).describe('Version of the format of the event.'),
  type: z.literal('dispatch.rejected').describe('Type of the event.'),
  at: timestamp.describe('When it happened, ISO 8601 in UTC.'),
  data: z
    .object({
      dispatch: z
        .object({
          sequence,
          role: z.enum(ROLES).optional().describe('The role that it was published as.'),
          task: taskId.optional().describe('The task, where it could be read.'),
          at: timestamp.describe('When it happened, ISO 8601 in UTC.'),
          checked,
        })
        .describe('The result.'),
      error: z
        .object({
          code: z.string().describe('A stable error code.'),
          reason: z.string().describe('What is wrong with it.'),
          fix: z.string().optional().describe('What would make the result readable.'),
          meant: z
            .enum(ROLES)
            .optional()
            .describe('The role whose result it seems to be, where it was published as that of another.'),
        })
        .describe('Why it could not be used.'),
    })
    .describe('What happened.'),
});

export const sessionEvent = z.discriminatedUnion('type', [
  factRecorded,
  dispatchRejected,
  ...taskEvents,
  ...noteEvents,
  ...inboxEvents,
  ...iterationEvents,
  ...lifecycleEvents,
  ...checkpointEvents,
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
/** What a result told, beside its facts. */
export type Outcome = z.output<typeof outcome>;

/** The newest dispatch that an event names, and when it was published; `undefined` for one that names none. */
export function newestNamed(
  event: SessionEvent,
): { readonly sequence: number; readonly at: string } | undefined {
  if (event.type === 'session.checkpoint') return event.data.newest_dispatch;
  if (event.type !== 'fact.recorded' && event.type !== 'dispatch.rejected') return undefined;
  const { sequence, at } = event.data.dispatch;
  return { sequence, at };
}

/** An event with its place in the session's log. */
export type StoredEvent = Stored<SessionEvent>;

/** What comes by itself, perhaps in bursts: no command is decided on it. */
const NO_COMMANDS: ReadonlySet<string> = new Set([
  'fact.recorded',
  'dispatch.rejected',
  'trace.appended',
] satisfies SessionEvent['type'][]);

/** The events of session logs. */
export const SESSION_EVENTS: EventFormat<SessionEvent> = {
  kind: 'session',
  parse: (json) => parseEvent(sessionEvent, json),
  isCommand: (type) => !NO_COMMANDS.has(type),
  json: (event) => (event.type === 'fact.recorded' ? resultEventJson(event) : undefined),
};

const types = sessionEvent.options.map((option) => option.shape.type.value);

/** The first words of the types of commands: none of another event begins with one of them. */
export const COMMAND_FAMILIES: readonly string[] = [
  ...new Set(types.filter(SESSION_EVENTS.isCommand).map((type) => type.slice(0, type.indexOf('.')))),
];

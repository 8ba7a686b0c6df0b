import { z } from 'zod';
import { type EventFormat, eventOf, parseEvent, type Stored, timestamp } from './event.js';
import { NOT_ENDED, ROLES, type Role, VERDICTS, verdictIn, verdictsOf } from './kinds.js';
import { ended, recordedFact, recordedRepair, vectorJson } from './recorded-fact.js';
import { question, RESULT_KEY_LENGTH, reviewIssue, taskId, testRun } from './results.js';
import { runEvents } from './run-request.js';
import {
  answerEvents,
  checkpointEvents,
  inboxEvents,
  iterationEvents,
  lifecycleEvents,
  noteEvents,
} from './session-meta-events.js';
import { taskEvents } from './task-events.js';
import { traceEvents } from './trace-entry.js';

const sequence = z.int().positive().describe('Sequence in the DISPATCH stream.');

const outcome = z
  .object({
    status: z.enum(VERDICTS).optional().describe('Verdict of work.'),
    assessment: z.enum(VERDICTS).optional().describe('Verdict of a review.'),
    summary: z.string().optional().describe('The work or findings.'),
    files_modified: z.array(z.string()).optional().describe('Files that were changed.'),
    tests: z.array(testRun).optional().describe('Test commands that were run.'),
    follow_up_actions: z.array(z.string()).optional().describe('Remaining work.'),
    blockers: z.array(z.string()).optional().describe('Blockers.'),
    strengths: z.array(z.string()).optional().describe('Strengths of the work.'),
    issues: z.array(reviewIssue).optional().describe('Problems of the work.'),
    required_fixes: z.array(z.string()).optional().describe('The required fixes.'),
    questions: z.array(question).optional().describe('Questions to a person.'),
    intent_id: z.string().optional().describe('The intent whose trace records it.'),
    branch: z.string().optional().describe('The git branch of the result.'),
    commit: z.string().optional().describe('The git commit of the result.'),
    history: z.literal(true).optional().describe('It is from before the session, so ledgers skip it.'),
  })
  .meta({ id: 'Outcome', description: "A result's own words, besides its facts." });

const checked = z
  .int()
  .nonnegative()
  .optional()
  .describe('The log was searched up to this event: this result had not been counted before.');

const resultKey = z
  .string()
  .length(RESULT_KEY_LENGTH)
  .optional()
  .describe('Recognizes the result if it is published again.');

const dispatch = {
  sequence,
  task: taskId,
  at: timestamp.describe('When it was published, ISO 8601 in UTC.'),
  checked,
  result_key: resultKey,
};

function hasVerdict({ role, outcome }: { role: Role; outcome: Outcome }): boolean {
  const verdicts = verdictsOf(role);
  const verdict = verdictIn(role, outcome);
  return verdict === undefined ? verdicts.length === 0 : verdicts.includes(verdict);
}

const factRecorded = eventOf('fact.recorded', {
  dispatch: z
    .object({
      ...dispatch,
      role: z.enum(ROLES).describe('The role that it was published with.'),
      outcome: outcome.describe('Its own words, besides its facts.'),
    })
    .refine(hasVerdict)
    .describe('The result.'),
  facts: z.array(recordedFact).readonly().describe('Its explicit facts. The others derive from the outcome.'),
  facts_complete: z
    .literal(true)
    .optional()
    .describe('The outcome was truncated for this event, so `facts` also has those that derive from it.'),
  refs: z
    .record(z.string(), z.string())
    .optional()
    .describe('The ids of its statements, such as M7, by the id of their fact.'),
  ends: z
    .array(z.object({ id: z.string().describe('Id of the statement that ends.'), ...ended.shape }))
    .readonly()
    .optional()
    .describe('The statements that this result ends.'),
  not_ended: z
    .array(
      z.object({
        id: z.string().describe('The id that it names.'),
        why: z.enum(NOT_ENDED).describe('Why nothing ends.'),
      }),
    )
    .readonly()
    .optional()
    .describe('Ids that it names without ending anything.'),
  facts_omitted: z.int().positive().optional().describe('Facts beyond the limit.'),
  repairs: z
    .array(recordedRepair)
    .readonly()
    .optional()
    .describe('The first repairs, including what was cut for this event.'),
  repairs_omitted: z.int().positive().optional().describe('Further repairs.'),
}).omit({ id: true });

const dispatchRejected = eventOf('dispatch.rejected', {
  dispatch: z
    .object({
      sequence,
      role: z.enum(ROLES).optional().describe('The role that it was published with.'),
      task: taskId.optional().describe('The task, if it could be read.'),
      at: timestamp.describe('When it happened, ISO 8601 in UTC.'),
      checked,
    })
    .describe('The result.'),
  error: z
    .object({
      code: z.string().describe('A stable error code.'),
      reason: z.string().describe('The problem.'),
      fix: z.string().optional().describe('The fix that makes the result readable.'),
      meant: z
        .enum(ROLES)
        .optional()
        .describe('The role that it seems to belong to, if it was published with another.'),
    })
    .describe('Why it could not be used.'),
}).omit({ id: true });

/** A person retracts, corrects or restores a fact. */
const ofFact = {
  fact: recordedFact.describe('The fact as it was.'),
  source: z
    .object({
      sequence: z.int().describe('Sequence in the DISPATCH stream; 0 or less for an imported result.'),
      ...{ task: taskId, at: dispatch.at },
      role: z.enum(ROLES).describe('The role that it was published with.'),
      event: z.int().nonnegative().describe("Sequence of its event in the session's stream."),
      history: z.literal(true).optional().describe('It is from before the session.'),
    })
    .describe('The result that stated it.'),
  after: z.int().optional().describe('The newest dispatch that was seen then; later ones count as later.'),
  reason: z.string().optional().describe('Why, in words.'),
};

const factRetracted = eventOf('fact.retracted', {
  ...ofFact,
  instead: z.string().optional().describe('Object of the fact that replaces it; absent if none does.'),
  ref: z.string().optional().describe('Id of the statement that replaces it.'),
  by: z.string().describe('Who retracted it.'),
}).omit({ id: true });

const factRestored = eventOf('fact.restored', {
  ...ofFact,
  by: z.string().describe('Who restored it.'),
}).omit({
  id: true,
});

const factVectors = eventOf('fact.vectors', {
  model: vectorJson.shape.model.describe('The model that made them.'),
  vectors: z
    .array(vectorJson.omit({ model: true }).extend({ fact: z.string().describe('Id of the fact.') }))
    .readonly()
    .describe('One vector per fact.'),
}).omit({ id: true });

export const sessionEvent = z.discriminatedUnion('type', [
  factRecorded,
  dispatchRejected,
  factRetracted,
  factRestored,
  factVectors,
  ...taskEvents,
  ...noteEvents,
  ...inboxEvents,
  ...answerEvents,
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
export type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;
export type DispatchOutcome = FactRecorded['data']['dispatch'];
/** A result's own words, besides its facts. */
export type Outcome = z.output<typeof outcome>;

export type StoredEvent = Stored<SessionEvent>;

/** Events that arrive by themselves, perhaps in bursts. */
const NO_COMMANDS: ReadonlySet<string> = new Set([
  'fact.recorded',
  'dispatch.rejected',
  'fact.retracted',
  'fact.restored',
  'fact.vectors',
  'trace.appended',
  'session.history',
] satisfies SessionEvent['type'][]);

export const SESSION_EVENTS: EventFormat<SessionEvent> = {
  kind: 'session',
  parse: (json) => parseEvent(sessionEvent, json),
  isCommand: (type) => !NO_COMMANDS.has(type),
};

const types = sessionEvent.options.map((option) => option.shape.type.value);

/** First words of command types; no other event type begins with one. */
export const COMMAND_FAMILIES: readonly string[] = [
  ...new Set(types.filter(SESSION_EVENTS.isCommand).map((type) => type.slice(0, type.indexOf('.')))),
];

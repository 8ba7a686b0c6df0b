import { z } from 'zod';
import { type EventFormat, eventOf, type Stored, timestamp } from './event.js';
import { NOT_ENDED, ROLES, type Role, VERDICTS, verdictIn, verdictsOf } from './kinds.js';
import { runEvents } from './plan-requests.js';
import { recordedFact, recordedRepair, statementEnds } from './recorded-fact.js';
import { outcomeFields, RESULT_KEY_LENGTH, taskId } from './results.js';
import { mark, named, object, oneOf, string } from './schema-fields.js';
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

const outcome = named('Outcome', "A result's own words, besides its facts.", {
  status: oneOf('Verdict of work.', VERDICTS).optional(),
  assessment: oneOf('Verdict of a review.', VERDICTS).optional(),
  ...outcomeFields,
  at: timestamp.optional().describe('When it happened, ISO 8601 in UTC, if long before publication.'),
  history: z.literal(true).optional().describe('It is from before the session, so ledgers skip it.'),
});

const newest = z
  .int()
  .positive()
  .optional()
  .describe('The highest such sequence the session has counted, if not its own.');

const resultKey = z
  .string()
  .length(RESULT_KEY_LENGTH)
  .optional()
  .describe('Recognizes the result if it is published again.');

const dispatch = {
  sequence,
  task: taskId,
  at: timestamp.describe('When it was published, ISO 8601 in UTC.'),
  newest,
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
      role: oneOf('The role that it was published with.', ROLES),
      outcome: outcome.describe('Its own words, besides its facts.'),
    })
    .refine(hasVerdict)
    .describe('The result.'),
  facts: z.array(recordedFact).readonly().describe('Its explicit facts. The others derive from the outcome.'),
  facts_complete: z
    .literal(true)
    .optional()
    .describe('The outcome was truncated, so `facts` also has those derived from it.'),
  refs: z
    .record(z.string(), z.array(z.string()).readonly())
    .optional()
    .describe('Ids of its statements by relation, in the order of the facts.'),
  ends: statementEnds.optional(),
  not_ended: z
    .array(z.object({ id: string('The id that it names.'), why: oneOf('Why nothing ends.', NOT_ENDED) }))
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
  dispatch: object('The result.', {
    sequence,
    role: oneOf('The role that it was published with.', ROLES).optional(),
    task: taskId.optional().describe('The task, if it could be read.'),
    at: timestamp.describe('When it happened, ISO 8601 in UTC.'),
    newest,
  }),
  error: object('Why it could not be used.', {
    code: string('A stable error code.'),
    reason: string('The problem.'),
    fix: string('The fix that makes the result readable.').optional(),
    meant: oneOf('The role it seems to belong to, if published with another.', ROLES).optional(),
  }),
}).omit({ id: true });

/** A person retracts, corrects or restores a fact. */
const ofFact = {
  fact: recordedFact.describe('The fact as it was.'),
  source: object('The result that stated it.', {
    sequence: z.int().describe('Sequence in the DISPATCH stream; 0 or less for an imported result.'),
    task: taskId,
    at: dispatch.at,
    role: oneOf('The role that it was published with.', ROLES),
    event: z.int().nonnegative().describe("Sequence of its event in the session's stream."),
    history: z.literal(true).optional().describe('It is from before the session.'),
  }),
  after: z.int().optional().describe('The newest dispatch that was seen then; later ones count as later.'),
  reason: string('Why, in words.').optional(),
};

const factRetracted = eventOf('fact.retracted', {
  ...ofFact,
  instead: string('Object of the fact that replaces it; absent if none does.').optional(),
  ref: string('Id of the statement that replaces it.').optional(),
  by: string('Who retracted it.'),
  agent: mark('An agent did, and not a person.'),
});

const factRestored = eventOf('fact.restored', {
  ...ofFact,
  by: string('Who restored it.'),
  agent: mark('An agent did, and not a person.'),
});

export const sessionEvent = z.discriminatedUnion('type', [
  factRecorded,
  dispatchRejected,
  factRetracted,
  factRestored,
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

/** The event of a dispatch: a log has one for each. */
export type DispatchEvent = FactRecorded | DispatchRejected;

export function isDispatchEvent(event: Pick<SessionEvent, 'type'>): event is DispatchEvent {
  return event.type === 'fact.recorded' || event.type === 'dispatch.rejected';
}

/** Events that are neither results nor commands: no command is decided on them, and they expect nothing. */
const OTHERS: ReadonlySet<string> = new Set([
  'trace.appended',
  'session.history',
] satisfies SessionEvent['type'][]);

export function isCommandEvent(event: Pick<SessionEvent, 'type'>): boolean {
  return !isDispatchEvent(event) && !OTHERS.has(event.type);
}

/** All commands of a session, and all its results, as filters of places. */
export const COMMAND_PATHS = 'command.>';
export const RESULT_PATHS = 'result.*';

/** Copies of overwritten events, each with the sequence of its original: not among the commands, since their appends expect nothing. */
export const OVERWRITTEN_PATH = 'session.history.overwritten';

/**
 * Results of a session are spread over this many subjects by their number in `DISPATCH`: a result always meets itself there,
 * and as many may be in flight. Each subject takes a quarter of a kilobyte of the server's memory.
 */
export const RESULT_SUBJECTS = 64;

export function resultPath(dispatch: number): string {
  return `result.${dispatch % RESULT_SUBJECTS}`;
}

/** Returns the sequence that a copy of an overwritten event takes; undefined for any other event. */
export function originalOf(event: SessionEvent): number | undefined {
  return event.type === 'session.history' ? event.data.sequence : undefined;
}

export const SESSION_EVENTS: EventFormat<SessionEvent> = {
  kind: 'session',
  parse: (json) => sessionEvent.safeParse(json).data,
  pathOf(event) {
    if (isDispatchEvent(event)) return resultPath(event.data.dispatch.sequence);
    if (originalOf(event) !== undefined) return OVERWRITTEN_PATH;
    return OTHERS.has(event.type) ? event.type : `command.${event.type}`;
  },
  expectedAt(path) {
    if (path.startsWith('command.')) return COMMAND_PATHS;
    return path.startsWith('result.') ? path : undefined;
  },
};

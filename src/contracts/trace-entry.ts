import { z } from 'zod';
import { openObject } from './checked.js';
import { eventOf, timestamp } from './event.js';
import { text } from './request-row.js';
import { list, named, type Output, object, oneOf, string, strings } from './schema-fields.js';

export const TRACE_STATES = ['REQUEST', 'REASONING', 'ACTION'] as const;
export const ACTION_TYPES = [
  'TOOL_EXECUTION',
  'CONTEXT_LOAD',
  'INTENT_SELECTION',
  'SCOPE_VIOLATION',
  'BUDGET_EXHAUSTED',
  'STATE_TRANSITION',
  'ERROR',
] as const;
export type ActionType = (typeof ACTION_TYPES)[number];
export const RESULT_STATUSES = ['SUCCESS', 'FAILURE', 'DENIED'] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

export const traceKey = text(128).describe('A name of at most 128 characters.');
const anyText = (max: number) => z.string().max(max, `must be at most ${max} characters`);

export const traceEntry = named('TraceEntry', 'One step that an agent took for an intent.', {
  id: traceKey.exactOptional().describe('Idempotency key of the entry.'),
  timestamp: timestamp.exactOptional().describe('When it was done, ISO 8601 in UTC.'),
  intent_id: traceKey.nullable().describe('The intent that it was done for.'),
  state: oneOf('The step of work that it belongs to.', TRACE_STATES).exactOptional(),
  action_type: oneOf('The kind of step.', ACTION_TYPES),
  payload: openObject(
    z.object({
      tool_name: anyText(200).exactOptional().describe('Name of the tool.'),
      target_files: z.array(anyText(1000)).max(1000).exactOptional().describe('Files that it touched.'),
      command: anyText(100_000).exactOptional().describe('The command that was run.'),
      reasoning: anyText(100_000).exactOptional().describe('Why it was done.'),
    }),
  )
    .default({})
    .describe('Details. Further fields are dropped.'),
  result: object(
    'Outcome. Default by action: ERROR fails, SCOPE_VIOLATION is denied, TOOL_EXECUTION succeeds.',
    {
      status: oneOf('Outcome.', RESULT_STATUSES),
      output_summary: anyText(2_000_000).default('').describe('Output.'),
      error_message: anyText(100_000).exactOptional().describe('The error.'),
    },
  ).exactOptional(),
});

/** The input of a trace entry. */
export type TraceEntryInput = z.input<typeof traceEntry>;
export type TraceEntry = z.output<typeof traceEntry>;

/** Bounded, with large outputs masked. */
export const recordedEntry = named('RecordedEntry', 'A stored trace entry: bounded, large outputs masked.', {
  id: string('Names the entry.'),
  intent: z.string().nullable().describe('The intent that it was done for.'),
  action: oneOf('The kind of step.', ACTION_TYPES),
  status: oneOf('Outcome.', RESULT_STATUSES),
  at: timestamp.exactOptional().describe("The entry's own time, ISO 8601 in UTC; not kept in state."),
  state: oneOf('The step of work that it belongs to.', TRACE_STATES).exactOptional(),
  tool: string('Name of the tool.').exactOptional(),
  target: string('Target other than files or a command: the task of a result.').exactOptional(),
  files: strings('Files that it touched.').exactOptional(),
  files_omitted: z.int().positive().exactOptional().describe('Further files that were left out.'),
  command: string('The command that was run.').exactOptional(),
  reasoning: string('Why it was done.').exactOptional(),
  output: string('Output.').exactOptional(),
  error: string('The error.').exactOptional(),
  constraints: strings('The constraints in a request.').exactOptional(),
  constraints_omitted: z.int().positive().exactOptional().describe('Further constraints that were left out.'),
  size: z.number().describe('Original size in characters.'),
});
export type RecordedEntry = Output<typeof recordedEntry>;

/** The output itself, for `trace.get`; the fold does not keep it. */
export const storedEntry = recordedEntry
  .extend({
    stored: object('The masked output.', {
      text: string('All of it, up to 4,000 characters.').exactOptional(),
      first: string('The first 1,000 characters of a longer one.').exactOptional(),
      last: string('The last 1,000 characters of a longer one.').exactOptional(),
      length: z.number().describe('Original length of the output in characters.'),
    }).exactOptional(),
  })
  .meta({ id: 'StoredEntry', description: 'A trace entry as its event stores it.' });
export type StoredEntry = z.output<typeof storedEntry>;

export const traceEvents = [
  eventOf('trace.appended', {
    entries: list('The entries.', storedEntry),
    malformed: z.int().nonnegative().describe('Entries of the same request that could not be read.'),
    malformed_because: string('Why the first of them could not be read.').exactOptional(),
  }),
] as const;

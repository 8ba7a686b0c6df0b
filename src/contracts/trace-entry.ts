import { z } from 'zod';
import { eventOf, timestamp } from './event.js';
import { openObject } from './request-fields.js';

/** Trace entries: what an agent did for an intent. Requests `trace.*`, and their event. */

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

const MAX_ID = 128;
const id = z.string().trim().min(1, 'must not be empty').max(MAX_ID, `must be at most ${MAX_ID} characters`);
const text = (max: number) => z.string().max(max, `must be at most ${max} characters`);

export const traceEntry = z.object({
  /** Names the entry: one that comes twice counts once. */
  id: id.exactOptional(),
  timestamp: timestamp.exactOptional(),
  intent_id: id.nullable(),
  state: z.enum(TRACE_STATES).exactOptional(),
  action_type: z.enum(ACTION_TYPES),
  /** May hold more, of which nothing is kept: what a tool was given differs from one to the next. */
  payload: openObject(
    z.object({
      tool_name: text(200).exactOptional(),
      target_files: z.array(text(1000)).max(1000).exactOptional(),
      command: text(100_000).exactOptional(),
      reasoning: text(100_000).exactOptional(),
    }),
  ).default({}),
  /** Without one the action tells: an ERROR has failed, a SCOPE_VIOLATION was denied, a TOOL_EXECUTION succeeded. */
  result: z
    .object({
      status: z.enum(RESULT_STATUSES),
      output_summary: text(2_000_000).default(''),
      error_message: text(100_000).exactOptional(),
    })
    .exactOptional(),
  /** Keeps what the entry says, its `reasoning` first, as a constraint of the intent. */
  pin: z.boolean().exactOptional(),
});

/** An entry as a caller writes it. */
export type TraceEntryInput = z.input<typeof traceEntry>;
export type TraceEntry = z.output<typeof traceEntry>;

/** An entry as its event keeps it: bounded, large outputs masked. */
export const recordedEntry = z.object({
  id: z.string(),
  intent: z.string().nullable(),
  action: z.enum(ACTION_TYPES),
  status: z.enum(RESULT_STATUSES),
  /** The entry's own time; the fold does not keep it. */
  at: timestamp.exactOptional(),
  state: z.enum(TRACE_STATES).exactOptional(),
  tool: z.string().exactOptional(),
  /** What it was done to, where files and command do not tell: the task of a dispatch. */
  target: z.string().exactOptional(),
  files: z.array(z.string()).exactOptional(),
  /** Further files that were left out. */
  files_omitted: z.int().positive().exactOptional(),
  command: z.string().exactOptional(),
  reasoning: z.string().exactOptional(),
  output: z.string().exactOptional(),
  error: z.string().exactOptional(),
  /** Of a request: its constraints. Earlier versions wrote none: they are read from `reasoning` then. */
  constraints: z.array(z.string()).exactOptional(),
  /** Further ones that were left out. */
  constraints_omitted: z.int().positive().exactOptional(),
  /** Size of the entry as it came, in characters. */
  size: z.number(),
});
export type RecordedEntry = z.output<typeof recordedEntry>;

/** What the event of an entry keeps besides, to be fetched: the fold does not keep it. */
export const storedEntry = recordedEntry.extend({
  /** The output that `output` stands for: whole, or its first and last characters. */
  stored: z
    .object({
      text: z.string().exactOptional(),
      first: z.string().exactOptional(),
      last: z.string().exactOptional(),
      /** Characters of the output as it came. */
      length: z.number(),
    })
    .exactOptional(),
});
export type StoredEntry = z.output<typeof storedEntry>;

/** A text that someone has made a constraint of an intent, by hand. */
export const pinnedText = z.object({
  intent: z.string(),
  /** The entry that it comes from. */
  id: z.string(),
  text: z.string(),
});
export type PinnedText = z.output<typeof pinnedText>;

export const traceEvents = [
  eventOf('trace.appended', {
    entries: z.array(storedEntry),
    /** Entries of the same request that could not be read. */
    malformed: z.int().nonnegative(),
    pins: z.array(pinnedText).exactOptional(),
  }),
] as const;

/** Most entries of one request. */
export const MAX_ENTRIES = 500;

export const traceAppendRequest = z.object({
  session: z.string(),
  /** One entry or several; those that cannot be read are skipped and counted. */
  entries: z
    .array(z.unknown())
    .min(1, 'must hold at least one entry')
    .max(500, 'must hold at most 500 entries'),
});

export const traceCompactRequest = z.object({
  session: z.string(),
  intentId: id,
});

export const traceGetRequest = z.object({
  session: z.string(),
  /** Id of the entry, as the summary and the recent lines name it. */
  id,
  /** Where entries of several intents have the id. */
  intentId: id.exactOptional(),
});

export const tracePinRequest = traceGetRequest;

import type { z } from 'zod';
import { compileRequest, pastPromptRequest } from './compile-request.js';
import { COMPILE_SUBJECT, PAST_PROMPT_SUBJECT } from './names.js';
import {
  RUN_INIT_SUBJECT,
  RUN_STATUS_SUBJECT,
  TRACE_APPEND_SUBJECT,
  TRACE_COMPACT_SUBJECT,
  TRACE_GET_SUBJECT,
  TRACE_PIN_SUBJECT,
  TRACE_RECORD_SUBJECT,
} from './request-names.js';
import { runInitRequest, runStatusRequest } from './run-request.js';
import { traceAppendRequest, traceCompactRequest, traceGetRequest, tracePinRequest } from './trace-entry.js';

interface SessionRequest {
  readonly summary: string;
  readonly request: z.ZodType;
  /** True if it changes nothing: readers may send it. */
  readonly reads?: true;
}

/** The requests about a session besides its tools. */
export const SESSION_REQUESTS = {
  [COMPILE_SUBJECT]: { summary: 'compile the next prompt', request: compileRequest },
  // A normal compile is counted and stored as if for an agent.
  [PAST_PROMPT_SUBJECT]: {
    ...{ summary: 'compile a prompt as it was; it is neither counted nor kept', reads: true },
    request: pastPromptRequest,
  },
  [RUN_INIT_SUBJECT]: { summary: 'track the progress of a session in a tasks.md', request: runInitRequest },
  [RUN_STATUS_SUBJECT]: {
    ...{ summary: 'show the progress of a run and what each task needs next', reads: true },
    request: runStatusRequest,
  },
  [TRACE_APPEND_SUBJECT]: { summary: 'add entries to the trace of an intent', request: traceAppendRequest },
  [TRACE_RECORD_SUBJECT]: { summary: 'the same without an answer, for volume', request: traceAppendRequest },
  [TRACE_COMPACT_SUBJECT]: {
    ...{ summary: 'the compacted history of an intent', reads: true },
    request: traceCompactRequest,
  },
  [TRACE_GET_SUBJECT]: {
    ...{ summary: 'an entry as its event keeps it, with its output', reads: true },
    request: traceGetRequest,
  },
  [TRACE_PIN_SUBJECT]: {
    summary: 'keep what an entry says as a constraint of its intent',
    request: tracePinRequest,
  },
} as const satisfies Readonly<Record<string, SessionRequest>>;

export const READING_REQUESTS: readonly string[] = Object.entries<SessionRequest>(SESSION_REQUESTS).flatMap(
  ([subject, { reads }]) => (reads ? [subject] : []),
);

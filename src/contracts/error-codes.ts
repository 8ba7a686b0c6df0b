/**
 * Every error code that crosses the wire or ends a command. Codes are stable: a caller may branch on them;
 * messages are for people and may change.
 */
export const ERROR_CODES = {
  marker_missing: 'the body is neither a JSON object nor text with exactly one marker pair',
  json_parse_failed: 'the body is not valid UTF-8 JSON',
  schema_invalid: 'a field is missing or has a wrong value',
  subject_invalid: 'the subject is not dispatch.<session>.<role>',
  too_large: 'a body, a request or a reply exceeds its size limit',
  rate_limited: 'requests come too fast: try again after retryAfterMs',
  deliveries_exhausted: 'the dispatch failed on every delivery',
  token_invalid: 'a name holds characters that a subject token cannot hold',
  limit_reached: 'the limit on stored items is reached: finish or delete some first',
  not_caught_up: 'the session has not yet folded the dispatch named in "after"',
  dispatch_rejected: 'the dispatch named in "after" could not be used',
  not_found: 'what was asked for does not exist',
  ambiguous: 'an id matches more than one thing',
  duplicate: 'an open task with the same content exists',
  near_duplicate: 'a learning says nearly the same',
  already_decided: 'the proposal has been decided before',
  project_bound: 'the session already belongs to another project',
  cycle: 'a dependency would make a task wait for itself',
  open_tasks: 'the session has open tasks',
  session_completed: 'the session is completed: restart it first',
  summary_exists: 'the iteration has a summary',
  template_invalid: 'a template holds an unknown placeholder',
  prompt_overflow: 'the required parts of the prompt do not fit its budget',
  progress_ledger_missing_tasks: 'the tasks file does not exist or cannot be read',
  progress_ledger_parse_failed: 'the tasks file holds no readable task',
  progress_ledger_incomplete: 'the tasks file does not hold the task',
  conflict: 'other writers came first at every attempt: try again',
  unavailable: 'NATS cannot be reached, or does not answer in time',
  store_full: 'the NATS server has no room to store more',
  store_in_use: 'another NATS server uses the store directory, or is about to',
  store_unusable: 'the store directory cannot be created, read or written',
  auth_failed: 'the NATS server rejected the credentials, or requires some',
  tls_failed: 'the NATS server cannot be reached over TLS as configured',
  permission_denied: 'the NATS user may not do this',
  server_unsupported: 'the NATS server is too old, or lacks JetStream',
  server_missing: 'no NATS server could be found or installed',
  config_invalid: 'an option or environment variable has a wrong value',
  usage: 'the command line is wrong',
  reply_invalid: 'a service answered what this version of the client cannot read',
  internal: 'a fault in Throughline itself',
} as const satisfies Record<string, string>;

/** A stable error code. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Whether a text is one of our codes: other software may send any. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
}

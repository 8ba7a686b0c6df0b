/**
 * Every error code that crosses the wire or ends a command. Codes are stable: a caller may branch on them;
 * messages are for people and may change.
 */
export const ERROR_CODES = {
  marker_missing: 'the body is neither a JSON object nor text with exactly one marker pair',
  json_parse_failed: 'the body is not valid UTF-8 JSON',
  schema_invalid: 'a field is missing or has a wrong value',
  subject_invalid: 'the subject is not dispatch.<session>.<role>',
  too_large: 'a body, a request or a reply is over its size limit',
  rate_limited: 'a session asks too often: try again after retryAfterMs',
  deliveries_exhausted: 'the dispatch failed on every delivery',
  token_invalid: 'a name holds characters that a subject token may not hold',
  limit_reached: 'as many are kept as may be: finish with some first',
  not_caught_up: 'the session has not folded the dispatch named in "after" yet',
  not_found: 'what was asked for does not exist',
  ambiguous: 'an id fits more than one thing',
  duplicate: 'an open task with the same content exists',
  near_duplicate: 'a learning says nearly the same',
  already_decided: 'the proposal has been decided before',
  project_bound: 'the session belongs to another project since it was opened',
  cycle: 'a dependency would make a task wait for itself',
  open_tasks: 'the session has open tasks',
  session_completed: 'the session is completed: restart it first',
  summary_exists: 'the iteration has a summary',
  template_invalid: 'a template holds an unknown placeholder',
  prompt_overflow: 'what must be in the prompt does not fit its budget',
  progress_ledger_missing_tasks: 'the tasks file does not exist or may not be read',
  progress_ledger_parse_failed: 'the tasks file holds no task that can be read',
  progress_ledger_incomplete: 'the tasks file does not hold the task',
  conflict: 'every attempt to write lost to another writer',
  unavailable: 'NATS cannot be reached, or does not answer in time',
  store_full: 'the NATS server may store no more',
  store_in_use: 'another NATS server has the store directory, or is about to start on it',
  store_unusable: 'the store directory cannot be made, read or written',
  auth_failed: 'the NATS server refuses the credentials, or wants some',
  tls_failed: 'the NATS server cannot be reached over TLS as configured',
  permission_denied: 'the NATS user may not do this',
  server_unsupported: 'the NATS server is too old, or lacks JetStream',
  server_missing: 'no NATS server could be found or installed',
  config_invalid: 'an option or environment variable has a wrong value',
  usage: 'the command line is wrong',
  internal: 'a fault in Throughline itself',
} as const satisfies Record<string, string>;

/** A stable error code. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Whether a text is one of our codes: what comes from elsewhere may be any. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
}

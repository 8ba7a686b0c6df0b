/** Every error code that crosses the wire or ends a command. Codes are stable; their messages may change. */
export const ERROR_TEXTS = {
  marker_missing: {
    about: 'the body is neither a JSON object nor text with exactly one marker pair',
    fix: 'send one JSON object, or text with one pair of BEGIN_DISPATCH_RESULT and END_DISPATCH_RESULT lines around it; publish several results one by one',
  },
  json_parse_failed: {
    about: 'the body is not valid UTF-8 JSON',
    fix: 'send one complete JSON object as UTF-8; correct a stored result with "throughline result retry --file"',
  },
  schema_invalid: {
    about: 'a field is missing or has a wrong value',
    fix: 'the message names the field and its allowed values: correct it and send it again',
  },
  stored_reply: {
    about: 'the message is the reply to a request, stored where results are: nobody published it as a result',
    fix: 'check which users may send requests; remove the message with "throughline result rm"',
  },
  subject_invalid: {
    about: 'the subject is not dispatch.<session>.<role>',
    fix: 'publish it on dispatch.<session>.<role>, with 1 to 64 of the characters A-Z a-z 0-9 _ and - for the session',
  },
  too_large: {
    about: 'a body, a request or a reply exceeds its size limit',
    fix: 'send less, ask for fewer items, or raise the limit that the message names',
  },
  rate_limited: {
    about: 'too many requests at once: try again after retryAfterMs',
    fix: 'wait details.retryAfterMs milliseconds and send it again',
  },
  deliveries_exhausted: {
    about: 'the dispatch failed on every delivery',
    fix: 'run "throughline doctor" to see why nothing could be stored, then "throughline result retry"',
  },
  token_invalid: {
    about: 'a name holds characters that a subject token cannot hold',
    fix: 'use 1 to 64 characters of A-Z a-z 0-9 _ and -',
  },
  limit_reached: {
    about: 'the limit on stored items is reached: finish or delete some first',
    fix: 'finish or delete some of the items that the message counts; decide on proposals with "throughline learning ls"',
  },
  not_caught_up: {
    about: 'the session has not yet folded the dispatch named in "after"',
    fix: 'check with "throughline admin health" that the extractor answers, then ask again; take after from the PubAck of a result of the same session',
  },
  dispatch_rejected: {
    about: 'the dispatch named in "after" could not be used',
    fix: 'correct it with "throughline result retry --file", or publish a corrected result and name its sequence in after',
  },
  session_forgotten: {
    about: 'the session is being forgotten: try again in a moment',
    fix: 'wait some seconds and send it again: a new session of that name then starts empty',
  },
  session_exists: {
    about: 'a session of that name exists already',
    fix: 'import it under another name with --as NAME; "throughline session rm" erases the one that is here',
  },
  not_found: {
    about: 'what was asked for does not exist',
    fix: 'list what there is: "throughline session ls", "throughline task ls", "throughline prompt ls" and so on',
  },
  ambiguous: {
    about: 'an id matches more than one thing',
    fix: 'give more of the id: details names those that fit',
  },
  duplicate: {
    about: 'an open task with the same content exists, or a rejected result has counted before',
    fix: 'use the task whose id the message names; remove the result with "throughline result rm"',
  },
  near_duplicate: {
    about: 'a learning says nearly the same',
    fix: 'accept it with merge, which adds its evidence to the learning that the message names, reject it, or keep both with separate',
  },
  already_decided: {
    about: 'the proposal has been decided before',
    fix: 'read the decision with "throughline learning show"; retract the learning instead',
  },
  project_bound: {
    about: 'the session already belongs to another project',
    fix: 'leave the project out, or use another session',
  },
  cycle: {
    about: 'a dependency would make a task wait for itself',
    fix: 'leave out one of the dependencies that details.cycle lists',
  },
  open_tasks: {
    about: 'the session has open tasks',
    fix: 'finish or cancel the tasks that the message names, or complete the session anyway with force and a reason (--force --reason)',
  },
  open_fixes: {
    about: 'reviews still ask for fixes',
    fix: 'have the tasks that the message names approved, or complete the session anyway with force and a reason (--force --reason)',
  },
  session_completed: {
    about: 'the session is completed: restart it first',
    fix: 'run "throughline session restart", or work in another session',
  },
  session_archived: {
    about: 'the session is archived: reopen it first',
    fix: 'run "throughline session reopen", then "throughline result retry" for its results, or work in another session',
  },
  summary_exists: { about: 'the iteration has a summary', fix: 'set replace to replace it' },
  template_invalid: {
    about: 'a template holds an unknown placeholder',
    fix: 'use one of the placeholders that the message lists; "throughline prompt template" prints a template with all of them',
  },
  prompt_overflow: {
    about: 'the required parts of the prompt do not fit its budget',
    fix: 'raise budget.inputTokens (--room) to the value in the message, or shorten the task prompt',
  },
  progress_ledger_missing_tasks: {
    about: 'the tasks file does not exist or cannot be read',
    fix: 'correct the path, or add its folder to THROUGHLINE_TASKS_ROOTS of the services',
  },
  progress_ledger_parse_failed: {
    about: 'the tasks file holds no readable task',
    fix: 'write its tasks in one of the forms that are read',
  },
  plan_too_long: {
    about: 'the plan has more than 5,000 lines',
    fix: 'take out what is done, or split it into several plans with a session each',
  },
  progress_ledger_incomplete: {
    about: 'the tasks file does not hold the task',
    fix: 'use an id of the plan; the prompt is compiled anyway, from results alone',
  },
  conflict: { about: 'other writers came first at every attempt: try again', fix: 'send it again' },
  unavailable: {
    about: 'NATS cannot be reached, or does not answer in time',
    fix: 'start one with "throughline up", or set NATS_URL; publish a result again under the id that details.messageId names',
  },
  store_full: {
    about: 'the NATS server has no room to store more',
    fix: 'free some space, or raise the limit that the message names; "throughline doctor" tests whether anything can be stored',
  },
  store_in_use: {
    about: 'another NATS server uses the store directory, or is about to',
    fix: 'run "throughline down", or give another directory with --store',
  },
  store_unusable: {
    about: 'the store directory cannot be created, read or written',
    fix: 'choose another directory with --store, or give the user the right to write there',
  },
  auth_failed: {
    about: 'the NATS server rejected the credentials, or requires some',
    fix: 'check NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_NKEY or NATS_CREDS',
  },
  tls_failed: {
    about: 'the NATS server cannot be reached over TLS as configured',
    fix: 'check NATS_CA, NATS_CERT, NATS_KEY and THROUGHLINE_TLS_FIRST',
  },
  permission_denied: {
    about: 'the NATS user may not do this',
    fix: 'compare with "throughline admin permissions --role ROLE", and set THROUGHLINE_INBOX_PREFIX',
  },
  server_unsupported: {
    about: 'the NATS server is too old, or lacks JetStream',
    fix: 'run a newer one with -js and a store directory; "throughline up" brings its own',
  },
  server_missing: {
    about: 'no NATS server could be found or installed',
    fix: 'install one as the message says, and name it in NATS_SERVER_BIN if it is not on the path',
  },
  config_invalid: {
    about: 'an option or environment variable has a wrong value',
    fix: 'the message names the variable or file and what it may hold',
  },
  not_connected: {
    about:
      'a .throughline.json, a branch or a folder names a session, and you have not connected that project',
    fix: 'look at its .throughline.json and run "throughline connect" in its folder once, or name the session by -s or THROUGHLINE_SESSION',
  },
  usage: {
    about: 'the command line is wrong',
    fix: 'add --help to the command for its options and an example',
  },
  reply_invalid: {
    about: 'a service answered in a version that this client cannot read',
    fix: 'use the same version on both sides',
  },
  internal: {
    about: 'a fault in Throughline itself',
    fix: 'try again, run "throughline doctor", and report it with the line of the log',
  },
} satisfies Readonly<Record<string, { readonly about: string; readonly fix: string }>>;

/** A stable error code. */
export type ErrorCode = keyof typeof ERROR_TEXTS;

/** The meaning of each code, in one line. */
export const ERROR_CODES = Object.fromEntries(
  Object.entries(ERROR_TEXTS).map(([code, { about }]) => [code, about]),
) as Readonly<Record<ErrorCode, string>>;

/** Other software may send any text as a code. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_TEXTS, code);
}

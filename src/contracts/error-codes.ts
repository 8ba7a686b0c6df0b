interface ErrorText {
  readonly about: string;
  readonly cause: string;
  readonly fix: string;
}

/**
 * Every error code that crosses the wire or ends a command. Codes are stable, so a caller may branch on them; messages
 * may change.
 */
export const ERROR_TEXTS = {
  marker_missing: {
    about: 'the body is neither a JSON object nor text with exactly one marker pair',
    cause:
      'an agent answered in prose, returned several results at once, or left one of the two marker lines out',
    fix: 'send one JSON object, or text with one pair of BEGIN_DISPATCH_RESULT and END_DISPATCH_RESULT lines around it; publish several results one by one',
  },
  json_parse_failed: {
    about: 'the body is not valid UTF-8 JSON',
    cause: 'the object was cut off before its task, or cannot be repaired; or a request is not JSON',
    fix: 'send one complete JSON object as UTF-8; correct a stored result with "throughline result retry --file"',
  },
  schema_invalid: {
    about: 'a field is missing or has a wrong value',
    cause:
      'a result without a task or with a verdict that no rule understands; a request with a misspelled or unknown field, or one too many',
    fix: 'the message names the field and its allowed values: correct it and send it again',
  },
  stored_reply: {
    about: 'the message is the reply to a request, stored where results are: nobody published it as a result',
    cause: 'a user asked for something and named a subject of Throughline as the one to reply on',
    fix: 'check which users may send requests; remove the message with "throughline result rm"',
  },
  subject_invalid: {
    about: 'the subject is not dispatch.<session>.<role>',
    cause: 'a result was published under a name that is not a session, or with a role that does not exist',
    fix: 'publish it on dispatch.<session>.<role>, with 1 to 64 of the characters A-Z a-z 0-9 _ and - for the session',
  },
  too_large: {
    about: 'a body, a request or a reply exceeds its size limit',
    cause:
      'a result above `maxBodyBytes` of THROUGHLINE_TUNING, a message above max_payload of the server, or a list without a limit',
    fix: 'send less, ask for fewer items, or raise the limit that the message names',
  },
  rate_limited: {
    about: 'too many requests at once: try again after retryAfterMs',
    cause: 'one session has 1,000 requests in progress in a service, or 200 that wait for a result',
    fix: 'wait details.retryAfterMs milliseconds and send it again',
  },
  deliveries_exhausted: {
    about: 'the dispatch failed on every delivery',
    cause:
      'the log of its session refused the event each time: it is full, or another stream has its subject',
    fix: 'run "throughline doctor" to see why nothing could be stored, then "throughline result retry"',
  },
  token_invalid: {
    about: 'a name holds characters that a subject token cannot hold',
    cause: 'a session, project or id with a dot, a space, a slash or more than 64 characters',
    fix: 'use 1 to 64 characters of A-Z a-z 0-9 _ and -',
  },
  limit_reached: {
    about: 'the limit on stored items is reached: finish or delete some first',
    cause: 'tasks, notes, messages or proposals are added and never finished, deleted or decided',
    fix: 'finish or delete some of the items that the message counts; decide on proposals with "throughline learning ls"',
  },
  not_caught_up: {
    about: 'the session has not yet folded the dispatch named in "after"',
    cause:
      'no extractor runs, it is behind, or the sequence belongs to another session; an asOf beyond the newest event of the session',
    fix: 'check with "throughline admin health" that the extractor answers, then ask again; take after from the PubAck of a result of the same session',
  },
  dispatch_rejected: {
    about: 'the dispatch named in "after" could not be used',
    cause: 'the result that the caller waits for was rejected; details.code and details.reason say why',
    fix: 'correct it with "throughline result retry --file", or publish a corrected result and name its sequence in after',
  },
  session_forgotten: {
    about: 'the session is being forgotten: try again in a moment',
    cause:
      'someone erases the session with "throughline session rm" or "admin project rm", and it is not done yet',
    fix: 'wait some seconds and send it again: a new session of that name then starts empty',
  },
  session_exists: {
    about: 'a session of that name exists already',
    cause:
      '"throughline session import" of a file whose session is here, archived ones included, or was imported before',
    fix: 'import it under another name with --as NAME; "throughline session rm" erases the one that is here',
  },
  not_found: {
    about: 'what was asked for does not exist',
    cause: 'a wrong id or session, or something that was deleted meanwhile',
    fix: 'list what there is: "throughline session ls", "throughline task ls", "throughline prompt ls" and so on',
  },
  ambiguous: {
    about: 'an id matches more than one thing',
    cause: 'a shortened id that fits several',
    fix: 'give more of the id: details names those that fit',
  },
  duplicate: {
    about: 'an open task with the same content exists, or a rejected result has counted before',
    cause:
      'an agent adds a task that is on the board already; a result is retried that its session has already',
    fix: 'use the task whose id the message names; remove the result with "throughline result rm"',
  },
  near_duplicate: {
    about: 'a learning says nearly the same',
    cause: 'a proposal is accepted, or a learning edited, that repeats one of the project',
    fix: 'accept it with merge, which adds its evidence to the learning that the message names, reject it, or keep both with separate',
  },
  already_decided: {
    about: 'the proposal has been decided before',
    cause: 'another person was faster',
    fix: 'read the decision with "throughline learning show"; edit or retract the learning instead',
  },
  project_bound: {
    about: 'the session already belongs to another project',
    cause: 'session open or run.init names another project than the first time',
    fix: 'leave the project out, or use another session',
  },
  cycle: {
    about: 'a dependency would make a task wait for itself',
    cause: 'the tasks that it should wait for already wait for it',
    fix: 'leave out one of the dependencies that details.cycle lists',
  },
  open_tasks: {
    about: 'the session has open tasks',
    cause: 'a session is completed before its tasks are',
    fix: 'finish or cancel the tasks that the message names, or complete the session anyway with force and a reason (--force --reason)',
  },
  open_fixes: {
    about: 'reviews still ask for fixes',
    cause: 'a session is completed before the fixes are approved that its reviews require',
    fix: 'have the tasks that the message names approved, or complete the session anyway with force and a reason (--force --reason)',
  },
  session_completed: {
    about: 'the session is completed: restart it first',
    cause: 'a command for a session that has ended',
    fix: 'run "throughline session restart", or work in another session',
  },
  session_archived: {
    about: 'the session is archived: reopen it first',
    cause: 'a result or a command for a session that someone has put away with "throughline session archive"',
    fix: 'run "throughline session reopen", then "throughline result retry" for its results, or work in another session',
  },
  summary_exists: {
    about: 'the iteration has a summary',
    cause: 'the summary of an iteration is written a second time',
    fix: 'set replace to replace it',
  },
  template_invalid: {
    about: 'a template holds an unknown placeholder',
    cause: 'a misspelled {{name}} in an iteration template',
    fix: 'use one of the placeholders that the message lists; "throughline prompt template" tells before a prompt is compiled',
  },
  prompt_overflow: {
    about: 'the required parts of the prompt do not fit its budget',
    cause: 'the objective, blockers and required fixes alone need more tokens than the budget of the prompt',
    fix: 'raise budget.inputTokens (--room) to the value in the message, or shorten the task prompt',
  },
  progress_ledger_missing_tasks: {
    about: 'the tasks file does not exist or cannot be read',
    cause:
      'a wrong path, a file outside THROUGHLINE_TASKS_ROOTS, or a service on another machine than the file',
    fix: 'correct the path, or add its folder to THROUGHLINE_TASKS_ROOTS of the services',
  },
  progress_ledger_parse_failed: {
    about: 'the tasks file holds no readable task',
    cause: 'the plan is written in a form that is not read',
    fix: 'write its tasks in one of the forms that are read',
  },
  plan_too_long: {
    about: 'the plan has more than 5,000 lines',
    cause: 'a plan that keeps all that was ever done, or a text that is not a plan',
    fix: 'take out what is done, or split it into several plans with a session each',
  },
  progress_ledger_incomplete: {
    about: 'the tasks file does not hold the task',
    cause: 'a prompt is asked for with a task id that the plan does not have',
    fix: 'use an id of the plan; the prompt is compiled anyway, from results alone',
  },
  conflict: {
    about: 'other writers came first at every attempt: try again',
    cause:
      'several writers change one session at once; a file that "throughline connect" edits was changed meanwhile',
    fix: 'send it again',
  },
  unavailable: {
    about: 'NATS cannot be reached, or does not answer in time',
    cause: 'no server runs, NATS_URL is wrong, no service answers the request, or the machine is overloaded',
    fix: 'start one with "throughline up", or set NATS_URL; publish a result again under the id that details.messageId names',
  },
  store_full: {
    about: 'the NATS server has no room to store more',
    cause: 'its disk is full, or a limit of the account or of a stream is reached',
    fix: 'free some space, or raise the limit that the message names; "throughline doctor" tests whether anything can be stored',
  },
  store_in_use: {
    about: 'another NATS server uses the store directory, or is about to',
    cause: '"throughline up" runs already, or a server that it started was left behind',
    fix: 'run "throughline down", or give another directory with --store',
  },
  store_unusable: {
    about: 'the store directory cannot be created, read or written',
    cause: 'wrong owner or permissions, or a path that is not a directory',
    fix: 'choose another directory with --store, or give the user the right to write there',
  },
  auth_failed: {
    about: 'the NATS server rejected the credentials, or requires some',
    cause: 'wrong, expired or missing credentials',
    fix: 'check NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_NKEY or NATS_CREDS',
  },
  tls_failed: {
    about: 'the NATS server cannot be reached over TLS as configured',
    cause: 'an unknown authority, a missing client certificate, or a server that starts TLS in another way',
    fix: 'check NATS_CA, NATS_CERT, NATS_KEY and THROUGHLINE_TLS_FIRST',
  },
  permission_denied: {
    about: 'the NATS user may not do this',
    cause: 'the role of the user lacks a subject, or its inbox prefix is not the one that it may listen to',
    fix: 'compare with "throughline admin permissions --role ROLE", and set THROUGHLINE_INBOX_PREFIX',
  },
  server_unsupported: {
    about: 'the NATS server is too old, or lacks JetStream',
    cause: 'a package of the distribution, or a server started without -js',
    fix: 'run a newer one with -js and a store directory; "throughline up" brings its own',
  },
  server_missing: {
    about: 'no NATS server could be found or installed',
    cause: 'no binary on the path, and no network to fetch one',
    fix: 'install one as the message says, and name it in NATS_SERVER_BIN if it is not on the path',
  },
  config_invalid: {
    about: 'an option or environment variable has a wrong value',
    cause:
      'a typing error, a port that is taken, a package that an option needs, or a setting that contradicts what the installation has',
    fix: 'the message names the variable or file and what it may hold',
  },
  not_connected: {
    about:
      'a .throughline.json, a branch or a folder names a session, and you have not connected that project',
    cause: 'a repository that was cloned, or a project that was moved',
    fix: 'look at its .throughline.json and run "throughline connect" in its folder once, or name the session by -s or THROUGHLINE_SESSION',
  },
  usage: {
    about: 'the command line is wrong',
    cause: 'options that do not go together, or a directory that must be empty and is not',
    fix: 'add --help to the command for its options and an example',
  },
  reply_invalid: {
    about: 'a service answered in a version that this client cannot read',
    cause: 'client and services have different versions',
    fix: 'use the same version on both sides',
  },
  internal: {
    about: 'a fault in Throughline itself',
    cause: 'a fault that nothing has foreseen; the log of the service has the whole error',
    fix: 'try again, run "throughline doctor", and report it with the line of the log',
  },
} satisfies Readonly<Record<string, ErrorText>>;

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

import { ERROR_TEXTS, type ErrorCode, isErrorCode } from '../../src/contracts/error-codes.js';
import { statusOf } from '../../src/contracts/errors.js';
import { asCode, type Written } from './pages.js';

/** A page that is written from the code. */

const REJECTED = '[When a result cannot be used](../how-to/publish-results.md#when-a-result-cannot-be-used)';
const SECURE = '[Who can read it](../how-to/secure.md)';
const REVIEW = '[Learnings](../how-to/everyday.md#keep-knowledge-beyond-a-session)';
const PLANS = '[Plans](../how-to/run-a-plan.md#plans-that-are-read)';
const RELIABILITY = '[What is promised about the server](../contributing/promises.md#the-server)';

/** The page that says more, beside the code. */
const SEE: Readonly<Partial<Record<ErrorCode, string>>> = {
  marker_missing: '[Where the result is found](../how-to/publish-results.md#where-the-result-is-found)',
  json_parse_failed: '[Repairs](../how-to/publish-results.md#repairs)',
  schema_invalid:
    '[What stays an error](../how-to/publish-results.md#what-stays-an-error), [Requests](requests.md)',
  subject_invalid: '[Publish results](../how-to/publish-results.md)',
  too_large: '[Configuration](configuration.md)',
  rate_limited: '[Configuration](configuration.md)',
  deliveries_exhausted: REJECTED,
  dispatch_rejected: REJECTED,
  not_caught_up: '[Follow a result](../how-to/publish-results.md#follow-a-result)',
  near_duplicate: REVIEW,
  already_decided: REVIEW,
  prompt_overflow: '[Change the size](../explanation/prompts.md#change-the-size)',
  progress_ledger_missing_tasks: PLANS,
  progress_ledger_parse_failed: PLANS,
  plan_too_long: PLANS,
  progress_ledger_incomplete: PLANS,
  unavailable: RELIABILITY,
  store_full: RELIABILITY,
  auth_failed: SECURE,
  tls_failed: SECURE,
  permission_denied: SECURE,
  server_missing: '[Which NATS server is used](configuration.md#which-nats-server-is-used)',
  config_invalid: '[Configuration](configuration.md)',
};

/** The usual cause of each. */
const CAUSES: Readonly<Record<ErrorCode, string>> = {
  marker_missing:
    'an agent answered in prose, returned several results at once, or left one of the two marker lines out',
  json_parse_failed:
    'the object was cut off before its task, or cannot be repaired; or a request is not JSON',
  schema_invalid:
    'a result without a task or with a verdict that no rule understands; a request with a misspelled or unknown field, or one too many',
  stored_reply: 'a user asked for something and named a subject of Throughline as the one to reply on',
  subject_invalid:
    'a result was published under a name that is not a session, or with a role that does not exist',
  too_large:
    'a result above `maxBodyBytes` of THROUGHLINE_TUNING, a message above max_payload of the server, or a list without a limit',
  rate_limited: 'one session has 1,000 requests in progress in a service, or 200 that wait for a result',
  deliveries_exhausted:
    'the log of its session refused the event each time: it is full, or another stream has its subject',
  token_invalid: 'a session, project or id with a dot, a space, a slash or more than 64 characters',
  limit_reached: 'tasks, notes, messages or proposals are added and never finished, deleted or decided',
  not_caught_up:
    'no extractor runs, it is behind, or the sequence belongs to another session; an asOf beyond the newest event of the session',
  dispatch_rejected:
    'the result that the caller waits for was rejected; details.code and details.reason say why',
  session_forgotten: 'someone erases the session with "throughline session rm", and it is not done yet',
  session_exists:
    '"throughline session import" of a file whose session is here, archived ones included, or was imported before',
  not_found: 'a wrong id or session, or something that was deleted meanwhile',
  ambiguous: 'a shortened id that fits several',
  duplicate:
    'an agent adds a task that is on the board already; a result is retried that its session has already',
  near_duplicate: 'a proposal is accepted that repeats a learning of the project',
  already_decided: 'another person was faster',
  project_bound: 'session open or run.init names another project than the first time',
  cycle: 'the tasks that it should wait for already wait for it',
  open_tasks: 'a session is completed before its tasks are',
  open_fixes: 'a session is completed before the fixes are approved that its reviews require',
  session_completed: 'a command for a session that has ended',
  session_archived:
    'a result or a command for a session that someone has put away with "throughline session archive"',
  summary_exists: 'the summary of an iteration is written a second time',
  template_invalid: 'a misspelled {{name}} in an iteration template',
  prompt_overflow:
    'the objective, blockers and required fixes alone need more tokens than the budget of the prompt',
  progress_ledger_missing_tasks:
    'a wrong path, a file outside THROUGHLINE_TASKS_ROOTS, or a service on another machine than the file',
  progress_ledger_parse_failed: 'the plan is written in a form that is not read',
  plan_too_long: 'a plan that keeps all that was ever done, or a text that is not a plan',
  progress_ledger_incomplete: 'a prompt is asked for with a task id that the plan does not have',
  conflict:
    'several writers change one session at once; a file that "throughline connect" edits was changed meanwhile',
  unavailable:
    'no server runs, NATS_URL is wrong, no service answers the request, or the machine is overloaded',
  store_full: 'its disk is full, or a limit of the account or of a stream is reached',
  store_in_use: '"throughline up" runs already, or a server that it started was left behind',
  store_unusable: 'wrong owner or permissions, or a path that is not a directory',
  auth_failed: 'wrong, expired or missing credentials',
  tls_failed:
    'an unknown authority, a missing client certificate, or a server that starts TLS in another way',
  permission_denied:
    'the role of the user lacks a subject, or its inbox prefix is not the one that it may listen to',
  server_unsupported: 'a package of the distribution, or a server started without -js',
  server_missing: 'no binary on the path, and no network to fetch one',
  config_invalid:
    'a typing error, a port that is taken, a package that an option needs, or a setting that contradicts what the installation has',
  not_connected: 'a repository that was cloned, or a project that was moved',
  usage: 'options that do not go together, or a directory that must be empty and is not',
  reply_invalid: 'client and services have different versions',
  internal: 'a fault that nothing has foreseen; the log of the service has the whole error',
};

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

export function errorsPage(): Written {
  const codes = Object.keys(ERROR_TEXTS).filter(isErrorCode);
  const page = `# Error codes

You find the usual cause and the fix of each error code here. [Troubleshoot](../how-to/troubleshoot.md) starts from symptoms. The page is
generated from [src/contracts/error-codes.ts](../../src/contracts/error-codes.ts).

Codes are stable, so a program may branch on them. Messages are for people and may change; they name the field, the value and the fix. A
service answers \`{"error":{"code","message","details"?}}\`, and the SDK throws a \`ThroughlineError\` with the same fields. A command prints the
code in brackets behind its message, and a log line has it in the field \`code\`. The number is the HTTP-like status of an error reply: 4xx is the
caller's fault. A code without a number is never a reply, or is sent as 500.

${codes
  .map((code) => {
    const status = statusOf(code) === 500 ? '' : `${statusOf(code)}. `;
    const see = SEE[code] === undefined ? '' : ` See ${SEE[code]}.`;
    return `## ${code}\n\n${status}${sentence(CAUSES[code])} Fix: ${ERROR_TEXTS[code].fix}.${see}`;
  })
  .join('\n\n')}
`;
  return { 'docs/reference/errors.md': asCode(page) };
}

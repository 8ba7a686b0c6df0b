import { ERROR_TEXTS, type ErrorCode, isErrorCode } from '../../src/contracts/error-codes.js';
import { statusOf } from '../../src/contracts/errors.js';
import { asCode, type Written } from './pages.js';

/** A page that is written from the code. */

const REJECTED = '[When a result cannot be used](../how-to/publish-results.md#when-a-result-cannot-be-used)';
const SECURE = '[Secure it](../how-to/secure.md)';
const REVIEW = '[Review learnings](../how-to/review-learnings.md)';
const PLANS = '[Plans](../how-to/follow-a-plan.md#plans-that-are-read)';
const RELIABILITY = '[What is promised about the server](../explanation/reliability.md#the-server)';

/** The page that says more, beside the code. */
const SEE: Readonly<Partial<Record<ErrorCode, string>>> = {
  marker_missing: '[Where the result is found](results.md#where-the-result-is-found)',
  json_parse_failed: '[Repairs](results.md#repairs)',
  schema_invalid: '[What stays an error](results.md#what-stays-an-error), [Requests](requests.md)',
  subject_invalid: '[Publish results](../how-to/publish-results.md)',
  too_large: '[Configuration](configuration.md)',
  rate_limited: '[Configuration](configuration.md)',
  deliveries_exhausted: REJECTED,
  dispatch_rejected: REJECTED,
  not_caught_up: '[Follow a result](../how-to/publish-results.md#follow-a-result)',
  near_duplicate: REVIEW,
  already_decided: REVIEW,
  prompt_overflow: '[Budgets](../how-to/budgets.md)',
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

const shownStatus = (code: ErrorCode) => (statusOf(code) === 500 ? '–' : statusOf(code));
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

export function errorsPage(): Written {
  const codes = Object.keys(ERROR_TEXTS).filter(isErrorCode);
  const page = `# Error codes

You find the meaning, the usual cause and the fix of each error code here. This page is generated from
[src/contracts/error-codes.ts](../../src/contracts/error-codes.ts).

Codes are stable, so a program may branch on them. Messages are for people and may change; they name the field, the value and the fix. A
service answers \`{"error":{"code","message","details"?}}\`, and the SDK throws a \`ThroughlineError\` with \`code\`, \`message\` and
\`details\`. A command prints the code in brackets behind its message, and a log line has it in the field \`code\`. The status is the HTTP-like
status of an error reply: 4xx is the caller's fault. A code without a status is never a reply, or is sent as 500.

[Troubleshoot](../how-to/troubleshoot.md) starts from symptoms. \`throughline doctor\` checks the whole installation and prints fixes.

| code | status | meaning |
|---|---|---|
${codes.map((code) => `| [\`${code}\`](#${code}) | ${shownStatus(code)} | ${ERROR_TEXTS[code].about} |`).join('\n')}

${codes
  .map((code) => {
    const { about, cause, fix } = ERROR_TEXTS[code];
    const see = SEE[code] === undefined ? '' : `\n- See: ${SEE[code]}`;
    return `## ${code}

${sentence(about)}

- Cause: ${cause}.
- Fix: ${fix}.${see}
`;
  })
  .join('\n')}`;
  const typed = asCode(page);
  return { 'docs/reference/errors.md': typed };
}

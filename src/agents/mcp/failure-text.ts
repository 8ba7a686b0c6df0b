import type { ErrorCode } from '../../contracts/error-codes.js';
import { codeOf, messageOf } from '../../contracts/errors.js';

/** What a model does next after an error, by its code. */
const NEXT: Readonly<Partial<Record<ErrorCode, string>>> = {
  unavailable:
    'Go on with your work without it, and try again later. If it stays so, tell the user to run "throughline up".',
  schema_invalid: 'Correct these fields and call again.',
  token_invalid: 'Correct the name and call again.',
  dispatch_rejected: 'Correct the result and call report again.',
  not_caught_up: 'Call again in a few seconds, or without after.',
  rate_limited: 'Wait a few seconds, then call again.',
  not_found: 'Use an id that exists: task or note with action list shows them.',
  ambiguous: 'Call again with the whole id.',
  duplicate: 'Use the task that exists.',
  prompt_overflow: 'Call again with more tokens, or without tokens.',
  too_large: 'Shorten it and call again.',
  conflict: 'Call again.',
  session_completed:
    'The session has ended: tell the user, who can restart it with "throughline session restart".',
};

const TELL = 'Do not repeat the call. Go on with your work, and tell the user.';

/** What a model reads of an error: what is wrong, the stable code, and what to do next. */
export function failureText(error: unknown): string {
  const code = codeOf(error);
  const said = messageOf(error).replace(/[.!]$/, '');
  return `${said} (${code}). ${NEXT[code] ?? TELL}`;
}

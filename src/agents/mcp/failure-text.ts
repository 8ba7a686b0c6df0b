import type { ErrorCode } from '../../contracts/error-codes.js';
import { codeOf, messageOf, ThroughlineError } from '../../contracts/errors.js';

/** What a model does next after an error, by its code. */
const NEXT: Readonly<Partial<Record<ErrorCode, string>>> = {
  unavailable:
    'Go on with your work without it, and try again later. If it stays so, tell the user to run "throughline doctor", which says what is wrong; where nothing runs, "throughline up".',
  schema_invalid: 'Correct these fields and call again.',
  token_invalid: 'Correct the name and call again.',
  dispatch_rejected: 'Correct the result and call report again.',
  not_caught_up: 'Call again in a few seconds, or without after.',
  rate_limited: 'Wait a few seconds, then call again.',
  not_found: 'Use an id that exists: task or note with action list shows them.',
  ambiguous: 'Call again with the whole id.',
  duplicate: 'Use the task that exists.',
  too_large: 'Shorten it and call again.',
  conflict: 'Call again.',
  session_archived:
    'The session takes no results: tell the user, who can reopen it with "throughline session reopen".',
  session_completed:
    'The session has ended: tell the user, who can restart it with "throughline session restart".',
};

const TELL = 'Do not repeat the call. Go on with your work, and tell the user.';

/**
 * What a model reads of an error: what is wrong, the stable code, and what to do next.
 *
 * @param fields those that the call takes
 */
export function failureText(error: unknown, fields: readonly string[]): string {
  const code = codeOf(error);
  if (code === 'prompt_overflow' && error instanceof ThroughlineError) return overflowText(error, fields);
  const said = messageOf(error).replace(/[.!]$/, '');
  return `${said} (${code}). ${NEXT[code] ?? TELL}`;
}

/** The message names fields of the request and options of the command line, which a model does not have. */
function overflowText({ details = {} }: ThroughlineError, fields: readonly string[]): string {
  const { tokens, room } = details;
  const much = typeof tokens === 'number' ? ` at least ${tokens} tokens` : ' more tokens';
  const given = typeof room === 'number' ? `, and has ${room}` : '';
  const enough = typeof tokens === 'number' ? ` (${tokens} or more)` : '';
  const next = fields.includes('tokens')
    ? `Call again with more tokens${enough}, or with a shorter prompt.`
    : 'Call again with a shorter prompt.';
  return `The prompt needs${much}${given} (prompt_overflow). ${next}`;
}

import type { ErrorCode } from './error-codes.js';

const STATUS: Partial<Record<ErrorCode, number>> = {
  schema_invalid: 400,
  json_parse_failed: 400,
  token_invalid: 400,
  template_invalid: 400,
  prompt_overflow: 413,
  progress_ledger_missing_tasks: 404,
  progress_ledger_parse_failed: 422,
  plan_too_long: 413,
  not_found: 404,
  ambiguous: 409,
  duplicate: 409,
  near_duplicate: 409,
  already_decided: 409,
  project_bound: 409,
  limit_reached: 409,
  cycle: 409,
  open_tasks: 409,
  open_fixes: 409,
  session_completed: 409,
  session_archived: 409,
  summary_exists: 409,
  conflict: 409,
  not_caught_up: 409,
  session_forgotten: 409,
  session_exists: 409,
  session_importing: 409,
  dispatch_rejected: 422,
  stored_reply: 409,
  too_large: 413,
  permission_denied: 403,
  rate_limited: 429,
  unavailable: 503,
  store_full: 507,
};

/** The number of an error in the manner of HTTP: 4xx is the caller's, 5xx is not. */
export function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? 500;
}

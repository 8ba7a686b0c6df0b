import { createHash } from 'node:crypto';
import { parseDispatchBody } from '../contracts/dispatch-body.js';
import { withRemedy } from '../contracts/errors.js';
import { lastResult } from '../contracts/reading/last-result.js';
import { repairsInWords } from '../contracts/reading/repairs.js';
import type { AgentRole } from './run-types.js';

/** The result in what an agent returned, ready to be published. */
export interface AgentResult {
  readonly body: string;
  readonly verdict: string;
  readonly findings: number;
  readonly summary?: string;
  readonly repaired?: string;
}

export type ReadAnswer =
  | { readonly ok: true; readonly result: AgentResult }
  /** Why there is none. */
  | { readonly ok: false; readonly fault: string };

/** Larger ones are for the service to refuse. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Reads the last result block of an answer, as the service will. The body has `resultId`, in place of one of its own: an
 * agent that gives each round the same name would be heard once.
 */
export function readAnswer(text: string, role: AgentRole, task: string, resultId: string): ReadAnswer {
  const found = lastResult(text);
  if (found === undefined) return { ok: false, fault: 'the last message holds no result block' };
  const parsed = parsedBody(found.text, role);
  if (!parsed.ok) return { ok: false, fault: withRemedy(parsed.reason, parsed.fix) };
  const { result } = parsed.value;
  if (result.task_id !== task) {
    return { ok: false, fault: `it is the result of task ${result.task_id}, and yours is ${task}` };
  }
  const { issues = [], required_fixes = [] } = 'assessment' in result ? result : {};
  return {
    ok: true,
    result: {
      body: named(found.text, role, task, resultId) ?? JSON.stringify({ ...result, result_id: resultId }),
      verdict: 'assessment' in result ? result.assessment : 'status' in result ? result.status : '',
      findings: Math.max(issues.length, required_fixes.length),
      ...(result.summary !== undefined && { summary: result.summary }),
      ...(parsed.repairs.length > 0 && { repaired: repairsInWords(parsed) }),
    },
  };
}

/** The text as it is, but for the id: so its event says what was repaired. Undefined where it cannot be put in. */
function named(text: string, role: AgentRole, task: string, resultId: string): string | undefined {
  const opens = text.indexOf('{') + 1;
  const body = `${text.slice(0, opens)}"result_id":${JSON.stringify(resultId)},${text.slice(opens)}`;
  const parsed = parsedBody(body, role);
  if (!parsed.ok) return undefined;
  const { task_id, result_id } = parsed.value.result;
  return task_id === task && result_id === resultId ? body : undefined;
}

function parsedBody(text: string, role: AgentRole) {
  return parseDispatchBody(new TextEncoder().encode(text), role, MAX_BYTES);
}

/** A name for the next result of a task: the same for the same place in its history, whatever the agent returns. */
export function resultIdOf(session: string, task: string, role: AgentRole, results: number): string {
  const place = JSON.stringify([session, task, role, results]);
  return `work-${createHash('sha256').update(place).digest('base64url').slice(0, 32)}`;
}

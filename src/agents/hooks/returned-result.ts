import { parseDispatchBody } from '../../contracts/dispatch-body.js';
import { withRemedy } from '../../contracts/errors.js';
import { kindOf, ROLES, type Role } from '../../contracts/kinds.js';
import type { ResultText } from '../../contracts/reading/last-result.js';

export type ReturnedResult =
  | { readonly role: Role; readonly text: string; readonly fault?: string }
  | { readonly fault: string };

/** Larger ones are for the service to refuse: the hook only looks at what it may send. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Reads the last result block of a message as the extractor will.
 *
 * @param expected the role of the agent. Without one the block says by its fields whose it is, and must stand between
 * markers: anything else may be an example
 */
export function returnedResult(found: ResultText, expected: Role | undefined): ReturnedResult {
  if (expected === undefined && !found.marked)
    return { fault: 'the last message holds no block between markers' };
  const body = new TextEncoder().encode(found.text);
  const tries: readonly [Role, ...Role[]] = expected === undefined ? ROLES : [expected];
  const faults: string[] = [];
  for (const role of tries) {
    const parsed = parseDispatchBody(body, role, MAX_BYTES);
    if (parsed.ok) return { role, text: textOfAgent(role, found.text, parsed.value.result) };
    faults.push(withRemedy(parsed.reason, parsed.fix));
  }
  const [fault = ''] = faults;
  // Between markers it was meant as a result: published, its refusal is seen in the next prompt.
  return found.marked ? { role: tries[0], text: found.text, fault } : { fault };
}

/** Returns the text to publish. In a record of a conversation it has no origins: an agent could state something as the user. */
export function textOfAgent(role: Role, text: string, result: object): string {
  if (kindOf(role).part !== 'note') return text;
  return JSON.stringify(result, (key, value) => (key === 'origin' ? undefined : value));
}

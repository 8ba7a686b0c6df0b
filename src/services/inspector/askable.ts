import type { InspectorRole } from '../../contracts/inspector-api.js';
import { PAST_PROMPT_SUBJECT } from '../../contracts/names.js';
import {
  READING_LEARNINGS,
  READING_REQUESTS,
  READING_TOOLS,
  type ToolName,
  toolSubject,
} from '../../contracts/request-names.js';

/** What the inspector passes on: reading for anyone, and decisions for operators. */
const READING: ReadonlySet<string> = new Set([
  ...READING_TOOLS.map((name: ToolName) => toolSubject(name)),
  ...READING_REQUESTS,
  ...READING_LEARNINGS,
  // A compile as such would be counted, and kept as if an agent had got it.
  PAST_PROMPT_SUBJECT,
]);

const DECIDING: ReadonlySet<string> = new Set([
  ...['proposal.accept', 'proposal.reject', 'learning.edit', 'learning.retract'],
  ...['tool.rejected-retry', 'tool.rejected-remove'],
]);

/** Why a request is not passed on; undefined where it is. */
export function refusedFor(subject: string, role: InspectorRole): string | undefined {
  if (READING.has(subject)) return undefined;
  if (!DECIDING.has(subject)) return `The inspector does not pass on ${JSON.stringify(subject)}.`;
  if (role === 'operator') return undefined;
  return `This inspector only reads, so it does not pass on ${subject}: start it with --inspector-role operator to decide here.`;
}

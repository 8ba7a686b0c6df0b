import { clipText, lengthOf, quoted } from '../../shared/text.js';
import type { SessionFact } from './fact-types.js';

/** The first line of the facts in a prompt. */
export const SESSION_CONTEXT_HEADER = '[Session Context]';
/** Maximum length of a fact's line, in characters. */
export const MAX_FACT_LINE = 120;

const MAX_SUFFIX = 60;

/**
 * Renders facts for a prompt: the header, then a line `- {subject} {relation} {object} [task:{id}]` each. Returns an
 * empty string without facts. Long lines lose the end of the object, then of the subject; the suffix is kept.
 */
export function formatSessionFacts(facts: readonly SessionFact[]): string {
  return facts.length === 0 ? '' : [SESSION_CONTEXT_HEADER, ...facts.map(factLine)].join('\n');
}

/** Renders a fact as one line of at most 120 characters. */
export function factLine(fact: SessionFact): string {
  const suffix = ` [task:${clipText(bare(fact.sourceTaskId), MAX_SUFFIX)}]`;
  const room = MAX_FACT_LINE - lengthOf(suffix);
  // Quoted as a whole: harmless parts such as `[task` and `: 9]` would combine into a forged origin.
  const line = `- ${quoted(`${quoted(fact.subject)} ${quoted(fact.relation)} ${quoted(fact.object)}`)}`;
  return clipText(line, room) + suffix;
}

// A bracket in a task id would end the suffix early, and the rest could forge another.
function bare(taskId: string): string {
  return quoted(taskId).replace(/[[\]]/g, '');
}

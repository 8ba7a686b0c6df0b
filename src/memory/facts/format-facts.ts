import { clipText, lengthOf, quoted } from '../../shared/text.js';
import type { SessionFact } from './fact-types.js';

/** The line that opens the facts in a prompt. */
export const SESSION_CONTEXT_HEADER = '[Session Context]';
/** Longest line of a formatted fact, in characters. */
export const MAX_FACT_LINE = 120;

const MAX_SUFFIX = 60;

/**
 * Renders facts for a prompt: the header, then `- {subject} {relation} {object} [task:{id}]` a line. No facts give
 * an empty string. A long line loses the end of its object, then of its subject; the suffix is always whole.
 */
export function formatSessionFacts(facts: readonly SessionFact[]): string {
  return facts.length === 0 ? '' : [SESSION_CONTEXT_HEADER, ...facts.map(factLine)].join('\n');
}

/** One fact as one line of at most 120 characters. */
export function factLine(fact: SessionFact): string {
  const suffix = ` [task:${clipText(bare(fact.sourceTaskId), MAX_SUFFIX)}]`;
  const room = MAX_FACT_LINE - lengthOf(suffix);
  // Quoted whole: of harmless parts, such as `[task` and `: 9]`, the blank between them would make a provenance.
  const line = `- ${quoted(`${quoted(fact.subject)} ${quoted(fact.relation)} ${quoted(fact.object)}`)}`;
  return clipText(line, room) + suffix;
}

// A bracket in a task id would end the suffix early and let the rest pass for another one.
function bare(taskId: string): string {
  return quoted(taskId).replace(/[[\]]/g, '');
}

import { problem } from './draft.js';
import { readLegend } from './legend.js';
import type { ParsedTasks } from './parsed-tasks.js';
import { repair } from './repair.js';
import { scan } from './scan.js';
import { settle } from './settle.js';

/**
 * Reads a `tasks.md` of any of the kinds that agents write, and never fails: what it cannot place, or places by a
 * guess, it reports with its line. Pure.
 *
 * Three steps: repair the text, scan its blocks for whatever may be or name a task, settle which of it is one.
 */
export function parseTasksMd(text: string): ParsedTasks {
  const { text: repaired, misdecoded } = repair(text);
  const lines = repaired.split(/\r\n|\r|\n/);
  const findings = scan(lines, readLegend(lines));
  if (misdecoded !== undefined) {
    findings.problems.push(problem('misdecoded_text', misdecoded.line, misdecoded.message));
  }
  return settle(findings);
}

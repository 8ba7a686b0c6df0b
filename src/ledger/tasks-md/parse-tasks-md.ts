import { type Findings, problem } from './draft.js';
import { readFrontMatter } from './front-matter.js';
import { readJsonTasks } from './json-tasks.js';
import { readLegend } from './legend.js';
import type { ParsedTasks } from './parsed-tasks.js';
import { repair } from './repair.js';
import { scan } from './scan.js';
import { settle } from './settle.js';
import { readTaskFiles } from './task-files.js';

/**
 * Reads a plan of any of the kinds that agents write, and never fails: what it cannot place, or places by a guess, it
 * reports with its line. The text tells the kind, not its name: Markdown, with or without a front matter, JSON, YAML or
 * a `task_001.txt`. Pure.
 *
 * Three steps: repair the text, scan its blocks or entries for whatever may be or name a task, settle which of it is one.
 */
export function parseTasksMd(text: string): ParsedTasks {
  const { text: repaired, misdecoded } = repair(text);
  const lines = repaired.includes('\r') ? repaired.split(/\r\n|\r|\n/) : repaired.split('\n');
  const findings: Findings = { drafts: [], headings: [], mentions: [], planned: [], problems: [] };
  if (!readJsonTasks(repaired, findings) && !readTaskFiles(lines, findings)) {
    const from = readFrontMatter(lines, findings);
    const shown = from === 0 ? lines : lines.map((line, at) => (at < from ? '' : line));
    scan(shown, readLegend(shown), findings);
  }
  if (misdecoded !== undefined) {
    findings.problems.push(problem('misdecoded_text', misdecoded.line, misdecoded.message));
  }
  // What ends the last line begins no other.
  return settle(findings, lines.length > 1 && lines.at(-1) === '' ? lines.length - 1 : lines.length);
}

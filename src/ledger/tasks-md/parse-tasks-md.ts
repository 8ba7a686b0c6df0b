import { allAtOnce, type Steps } from '../../shared/steps.js';
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
  return allAtOnce(parseInSteps(text));
}

/** The same in steps, for a process that has others to serve between them. */
export function* parseInSteps(text: string): Steps<ParsedTasks> {
  const { text: repaired, misdecoded } = repair(text);
  const lines = repaired.includes('\r') ? repaired.split(/\r\n|\r|\n/) : repaired.split('\n');
  const findings: Findings = { drafts: [], headings: [], mentions: [], planned: [], problems: [] };
  if (!(yield* readJsonTasks(repaired, findings)) && !readTaskFiles(lines, findings)) {
    const from = yield* readFrontMatter(lines, findings);
    const shown = from === 0 ? lines : lines.map((line, at) => (at < from ? '' : line));
    yield;
    yield* scan(shown, readLegend(shown), findings);
  }
  if (misdecoded !== undefined) {
    findings.problems.push(problem('misdecoded_text', misdecoded.line, misdecoded.message));
  }
  // What ends the last line begins no other.
  return yield* settle(findings, lines.length > 1 && lines.at(-1) === '' ? lines.length - 1 : lines.length);
}

import { keptIds } from '../kept-ids.js';
import { type ParsedTask, type ParsedTasks, problem, type TaskProblem, unnamedOf } from './parsed-tasks.js';
import { type PlanLine, readLines } from './plan-lines.js';
import { Scanner } from './scan.js';
import { settle } from './settle.js';
import { isLegendHeading, readLegend } from './status-words.js';

/**
 * Parses a plan in Markdown, and never fails: lines that it cannot read, or reads by a guess, are reported. Pure.
 *
 * Three steps: split the text into lines, scan these for anything that may be or name a task, settle which are tasks.
 */
export function parseTasksMd(text: string): ParsedTasks {
  const source = text.replace(/^\uFEFF/, '').split(LINE_BREAK);
  const problems: TaskProblem[] = [];
  const from = frontMatterEnd(source, problems);
  const shown = from === 0 ? source : source.map((line, at) => (at < from ? '' : line));
  const lines = readLines(shown);
  const findings = new Scanner(lines, readLegend(shown)).scan();
  findings.problems.unshift(...problems);
  const { preambleEnd, ...settled } = settle(findings);
  const preamble = preambleOf(lines.slice(0, preambleEnd));
  return { ...settled, ...(preamble !== '' && { preamble }) };
}

const LINE_BREAK = /\r\n|\r|\n/;

/** Returns the line after a front matter, 0 without one, and reports a list of tasks in it. */
function frontMatterEnd(lines: readonly string[], problems: TaskProblem[]): number {
  if (lines[0]?.trimEnd() !== '---') return 0;
  const end = lines.findIndex((line, at) => at > 0 && line.trimEnd() === '---');
  // Otherwise the lines are text between two rules.
  if (end === -1 || !/^[A-Za-z_][\w-]*:(?:\s|$)/.test(lines[1] ?? '')) return 0;
  const list = lines.slice(0, end).findIndex((line) => /^(?:todos|tasks)\s*:\s*$/.test(line));
  if (list !== -1) {
    const message =
      'tasks in a front matter are not read; write them below it as lines such as "- [ ] Write the parser"';
    problems.push(problem('other_format', list, message, end - 1));
  }
  return end + 1;
}

/** Sections that say how the file is written, or how far it is. */
const ABOUT_FILE = /\b(?:formats?|progress|tracking|table of contents|contents|notation)\b/i;

/** Returns the text without legends, tables, and headings that have no text. */
function preambleOf(lines: readonly PlanLine[]): string {
  const text: string[] = [];
  let skipped = 0;
  let headings: readonly PlanLine[] = [];
  for (const line of lines) {
    const { kind, level } = line;
    if (kind === 'heading') {
      if (skipped === 0 || level <= skipped) {
        skipped = ABOUT_FILE.test(line.text) || isLegendHeading(line.text) ? level : 0;
      }
      headings = [...headings.filter((heading) => heading.level < level), line];
    } else if (skipped === 0 && kind !== 'row' && line.text !== '') {
      for (const heading of headings) text.push(heading.raw);
      text.push(line.raw);
      headings = [];
    }
  }
  return text.join('\n');
}

/** Supported plan formats with an example line each, for the error about a file without tasks. */
export const DIALECTS: readonly (readonly [name: string, example: string])[] = [
  ['checkbox', '- [ ] Write the parser'],
  ['Kiro, OpenSpec', '- [ ] 1.1 Write the parser'],
  ['spec-kit', '- [ ] T001 [P] [US1] Write the parser'],
  ['BMAD', '- [ ] **Task 1: Write the parser** (AC: #1)'],
  ['GSD', '- [ ] 01-01-PLAN.md — Write the parser'],
  ['heading', '### Phase 1: Parser [IN PROGRESS]'],
  ['numbered line', '1. **✅ Write the parser**'],
];

const BOX = /\[[^[\]]{0,12}\]/;

/** The plan with one box ticked, or the reason why not. */
type Ticked = { readonly text: string } | { readonly fault: string };

/** The tasks of a plan as a session has them. */
export type KnownTasks = Pick<Parameters<typeof keptIds>[2], 'tasks'>;

/**
 * Ticks the box of a task, and those of the tasks above it that are done with it, and changes nothing else. The result is parsed
 * again: if anything but these statuses changed, the plan is left alone.
 *
 * @param known the tasks of the plan with the ids that they have in the session
 */
export function tickedPlan(text: string, taskId: string, known: KnownTasks = { tasks: [] }): Ticked {
  const before = parseTasksMd(text).tasks;
  const named = new Set(known.tasks.map(({ id }) => id));
  const ids = keptIds({ tasks: before }, unnamedOf(before), known, (id) => named.has(id));
  const task = before[ids.findIndex(({ id }) => id === taskId)];
  if (task === undefined) return { fault: 'the plan has no such task' };
  const first = task.status === 'completed' ? { text } : withTick(text, before, task);
  if ('fault' in first) return first;
  let ticked = first.text;
  for (let { parent } = task; parent !== undefined; ) {
    const now = parseTasksMd(ticked).tasks;
    const above = now.find(({ id }) => id === parent);
    if (above?.status !== 'completed') break;
    const more = above.statusFrom === 'children' ? withTick(ticked, now, above) : undefined;
    if (more !== undefined && 'text' in more) ticked = more.text;
    parent = above.parent;
  }
  return { text: ticked };
}

function withTick(text: string, before: readonly ParsedTask[], task: ParsedTask): Ticked {
  // Every second part is a line break, as written.
  const parts = text.split(/(\r\n|\r|\n)/);
  const at = (task.line - 1) * 2;
  const line = parts[at] ?? '';
  const mayHaveBox = task.statusFrom === 'box' || task.statusFrom === 'children';
  if (!mayHaveBox || !BOX.test(line)) return { fault: 'its line has no check box' };
  const ticked = parts.with(at, line.replace(BOX, '[x]')).join('');
  const after = parseTasksMd(ticked).tasks;
  const isTicked = after.every((now, index) => {
    const was = before[index];
    if (was?.id !== now.id) return false;
    return now.id === task.id
      ? now.status === 'completed' && now.statusFrom === 'box'
      : now.status === was.status || now.statusFrom === 'children';
  });
  if (!isTicked || after.length !== before.length)
    return { fault: 'its check box means something else here' };
  return { text: ticked };
}

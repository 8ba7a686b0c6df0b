import type { Block } from './blocks.js';
import { problem } from './draft.js';
import { readField } from './fields.js';
import { readHead, showsBox } from './head.js';
import type { Legend } from './marks.js';
import type { TaskProblem } from './parsed-tasks.js';

interface Numbered {
  readonly line: number;
  readonly ordinal: number;
  readonly text: string;
}

/**
 * Reports numbered items among numbered items with boxes, which may have been meant as tasks. Items before line `taken`
 * belong to a prompt.
 */
export function reportUnboxed(
  blocks: readonly Block[],
  taken: number,
  legend: Legend,
  problems: TaskProblem[],
): void {
  let run: Numbered[] | undefined;
  for (const block of blocks) {
    const item = numbered(block, taken);
    if (item !== undefined) {
      run ??= [];
      run.push(item);
    } else if (run !== undefined) {
      reportRun(run, legend, problems);
      run = undefined;
    }
  }
  if (run !== undefined) reportRun(run, legend, problems);
}

function reportRun(run: readonly Numbered[], legend: Legend, problems: TaskProblem[]): void {
  const unboxed = run.filter(({ text }) => !showsBox(text, legend));
  if (unboxed.length === run.length) return;
  for (const { line, ordinal, text } of unboxed) {
    if (!isPlain(text, legend)) continue;
    const message = `${ordinal} is among tasks, but has neither checkbox nor status`;
    problems.push(problem('id_without_status', line, message));
  }
}

function numbered(block: Block, taken: number): Numbered | undefined {
  if (block.kind !== 'item' || block.ordinal === undefined) return undefined;
  const [first] = block.children;
  if (first?.kind !== 'paragraph' || first.start < taken) return undefined;
  return { line: first.start, ordinal: block.ordinal, text: first.lines[0] ?? '' };
}

function isPlain(text: string, legend: Legend): boolean {
  const { id, mark } = readHead(text, true, legend);
  return id === undefined && mark === undefined && readField(text) === undefined;
}

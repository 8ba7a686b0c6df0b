import type { Block } from './blocks.js';
import { problem } from './draft.js';
import { readField } from './fields.js';
import { type Head, readHead } from './head.js';
import type { Legend } from './marks.js';
import type { TaskProblem } from './parsed-tasks.js';

interface Numbered {
  readonly head: Head;
  readonly line: number;
  readonly ordinal: number;
  readonly text: string;
}

/**
 * Reports numbered items among numbered items with boxes: their author may have meant tasks. Items before
 * line `taken` belong to a prompt and are passed over.
 */
export function reportUnboxed(
  blocks: readonly Block[],
  taken: number,
  legend: Legend,
  problems: TaskProblem[],
): void {
  let run: Numbered[] = [];
  const report = () => {
    if (run.some(({ head }) => head.box !== undefined)) {
      for (const { line, ordinal } of run.filter(isPlain)) {
        const message = `${ordinal} is among tasks, but has neither checkbox nor status`;
        problems.push(problem('id_without_status', line, message));
      }
    }
    run = [];
  };
  for (const block of blocks) {
    const item = numbered(block, taken, legend);
    if (item === undefined) report();
    else run.push(item);
  }
  report();
}

function numbered(block: Block, taken: number, legend: Legend): Numbered | undefined {
  if (block.kind !== 'item' || block.ordinal === undefined) return undefined;
  const [first] = block.children;
  if (first?.kind !== 'paragraph' || first.start < taken) return undefined;
  const text = first.lines[0] ?? '';
  return { head: readHead(text, true, legend), line: first.start, ordinal: block.ordinal, text };
}

function isPlain({ head, text }: Numbered): boolean {
  const { box, id, mark } = head;
  return box === undefined && id === undefined && mark === undefined && readField(text) === undefined;
}

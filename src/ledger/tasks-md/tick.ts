import { parseTasksMd } from './parse-tasks-md.js';

const BOX = /\[[^[\]]{0,12}\]/;
const LINES = /\r\n|\r|\n/g;

/** The plan with one box ticked, or the reason why not. */
type Ticked = { readonly text: string } | { readonly fault: string };

/**
 * Ticks the box of a task and changes nothing else. The result is parsed again: if anything but this task's status
 * changed, the plan is left alone.
 */
export function tickedPlan(text: string, id: string): Ticked {
  const before = parseTasksMd(text).tasks;
  const task = before.find((each) => each.id === id);
  if (task === undefined) return { fault: 'the plan has no such task' };
  if (task.status === 'completed') return { text };
  const from = startOfLine(text, task.line);
  const box = BOX.exec(text.slice(from, endOfLine(text, from)));
  if (box === null || task.statusFrom !== 'box') return { fault: 'its line has no check box' };
  const at = from + box.index;
  const ticked = `${text.slice(0, at)}[x]${text.slice(at + box[0].length)}`;
  const after = parseTasksMd(ticked).tasks;
  const isTicked = after.every((now, index) => {
    const was = before[index];
    if (was?.id !== now.id) return false;
    return now.id === id
      ? now.status === 'completed'
      : now.status === was.status || now.statusFrom === 'children';
  });
  if (!isTicked || after.length !== before.length)
    return { fault: 'its check box means something else here' };
  return { text: ticked };
}

function startOfLine(text: string, line: number): number {
  let at = 0;
  LINES.lastIndex = 0;
  for (let now = 1; now < line && LINES.exec(text) !== null; now += 1) at = LINES.lastIndex;
  return at;
}

function endOfLine(text: string, from: number): number {
  const rest = text.slice(from).search(/[\r\n]/);
  return rest < 0 ? text.length : from + rest;
}

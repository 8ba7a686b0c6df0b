import { leavesOf } from '../../ledger/progress-ledger.js';
import { clipText, oneLine } from '../../shared/text.js';
import type { PastResults } from '../search/past-results.js';
import type { SessionState } from './session-state.js';
import { isOpen } from './task-board.js';

/** Limits in characters: of the whole text, of its files, and of one task. */
const MOST = { all: 400, files: 200, task: 60 };

/**
 * Returns what a list of sessions is searched in beside the figures, a line each: the first open tasks of board and plan as
 * `ID`, a tab and the text, then the most recently changed files.
 */
export function workText({ board, run }: SessionState, { rows, paths }: PastResults): string {
  const files = new Set<string>();
  let used = 0;
  for (let at = rows.length - 1; at >= 0 && used < MOST.files; at -= 1)
    for (const id of rows[at]?.files ?? []) {
      const path = paths.paths[id] ?? '';
      if (files.has(path) || used + path.length >= MOST.files) continue;
      files.add(path);
      used += path.length + 1;
    }
  const tasks: string[] = [];
  const onBoard = [...board.tasks.values()].filter(isOpen).map(({ id, content }) => ({ id, text: content }));
  const inPlan = leavesOf(run?.document.tasks ?? []).filter(({ status }) => status !== 'completed');
  for (const { id, text } of [...onBoard, ...inPlan]) {
    const line = `${id}\t${clipText(oneLine(text), MOST.task)}`;
    used += line.length + 1;
    if (used > MOST.all) break;
    tasks.push(line);
  }
  return [...tasks, ...files].join('\n');
}

/** Returns the tasks and files of a work text that each have all words, which are in lower case; undefined for none. */
export function foundInWork(text: string, words: readonly string[]) {
  const lines = text.split('\n').filter((line) => words.every((word) => line.toLowerCase().includes(word)));
  if (lines.length === 0) return undefined;
  const tasks = lines.flatMap((line) => {
    const [id = '', said] = line.split('\t');
    return said === undefined ? [] : [{ id, text: said }];
  });
  return { tasks, files: lines.filter((line) => line !== '' && !line.includes('\t')) };
}

import { counted } from '../shared/counted.js';
import { visible } from '../shared/terminal-text.js';
import { note } from './output.js';

/** What tells how far a long command is, on standard error. */
export interface Progress {
  reached(count: number): void;
  ended(): void;
}

/** Lines at most where the same line cannot be written again. */
const LINES = 4;

/**
 * Says `-- 128 of 500 commits published`: on a terminal in one line that changes, elsewhere in a few lines, and nothing
 * where it is not wanted.
 */
export function showProgress(wanted: boolean, total: number, one: string, done: string): Progress {
  const line = (count: number) => `-- ${count} of ${counted(total, one)} ${done}`;
  if (!wanted || total === 0) return { reached() {}, ended() {} };
  let said = 0;
  if (process.stderr.isTTY) {
    return {
      reached(count) {
        said = count;
        process.stderr.write(`\r${visible(line(count))}`);
      },
      ended() {
        if (said > 0) process.stderr.write('\n');
      },
    };
  }
  return {
    reached(count) {
      const step = Math.floor((count / total) * LINES);
      if (step > said) note(line(count));
      said = Math.max(said, step);
    },
    ended() {},
  };
}

import { closeSync, fstatSync, readSync } from 'node:fs';
import { openToAppend } from '../files/user-state.js';

const TAIL_LINES = 12;
const TAIL_BYTES = 16 * 1024;

/** The log of one server: it is appended to, over restarts, and `tail` shows what this run wrote last. */
export interface LogFile {
  readonly path: string;
  /** For the `stdio` of a child process. */
  readonly fd: number;
  /** The last lines of this run, for an error message. */
  tail(): string;
  close(): void;
}

/** Opens a log file for appending. Throws the file system's error. */
export function openLogFile(path: string): LogFile {
  const fd = openToAppend(path);
  const { size: start } = fstatSync(fd);
  return {
    path,
    fd,
    tail() {
      // The first one is closed once the server has ended.
      const reader = openToAppend(path);
      try {
        return lastLines(reader, start);
      } finally {
        closeSync(reader);
      }
    },
    close: () => closeSync(fd),
  };
}

function lastLines(fd: number, start: number): string {
  const { size } = fstatSync(fd);
  const from = Math.max(start, size - TAIL_BYTES);
  const bytes = Buffer.alloc(Math.max(0, size - from));
  const length = readSync(fd, bytes, 0, bytes.length, from);
  const lines = bytes.toString('utf8', 0, length).trimEnd().split('\n');
  return lines.slice(-TAIL_LINES).join('\n');
}

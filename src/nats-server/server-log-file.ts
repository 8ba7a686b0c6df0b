import { type FileHandle, open } from 'node:fs/promises';

const TAIL_LINES = 12;
const TAIL_BYTES = 16 * 1024;

/** The log of one server: it is appended to, over restarts, and `tail` shows what this run wrote last. */
export interface LogFile {
  readonly path: string;
  /** For the `stdio` of a child process. */
  readonly fd: number;
  /** The last lines of this run, for an error message. */
  tail(): Promise<string>;
  close(): Promise<void>;
}

/** Opens a log file for appending. Throws the file system's error. */
export async function openLogFile(path: string): Promise<LogFile> {
  const handle = await open(path, 'a');
  const { size: start } = await handle.stat();
  return {
    path,
    fd: handle.fd,
    async tail() {
      const reader = await open(path, 'r');
      try {
        return await lastLines(reader, start);
      } finally {
        await reader.close();
      }
    },
    close: () => handle.close(),
  };
}

async function lastLines(reader: FileHandle, start: number): Promise<string> {
  const { size } = await reader.stat();
  const from = Math.max(start, size - TAIL_BYTES);
  const { buffer, bytesRead } = await reader.read(Buffer.alloc(size - from), 0, size - from, from);
  const lines = buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n');
  return lines.slice(-TAIL_LINES).join('\n');
}

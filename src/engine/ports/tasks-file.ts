/**
 * Reads task files for the service. An implementer must read only below the configured roots, after following all links, and
 * must return a fault instead of throwing.
 */
export interface TasksFile {
  /** Returns the modification time in milliseconds. */
  modified(path: string): Promise<{ readonly mtimeMs: number } | TasksFileFault>;
  read(path: string): Promise<{ readonly text: string; readonly mtimeMs: number } | TasksFileFault>;
}

export interface TasksFileFault {
  /** Completes "<path>: …". */
  readonly fault: string;
}

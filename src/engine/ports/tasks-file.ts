/**
 * Reads task files for the service.
 *
 * An implementer must read only files under the roots that its owner has configured, after all symbolic links are
 * followed, and must answer with a fault rather than throw for any file that it cannot read.
 */
export interface TasksFile {
  /** When the file was last modified, in milliseconds. */
  modified(path: string): Promise<{ readonly mtimeMs: number } | TasksFileFault>;
  read(path: string): Promise<{ readonly text: string; readonly mtimeMs: number } | TasksFileFault>;
}

export interface TasksFileFault {
  /** Completes "<path>: …". */
  readonly fault: string;
}

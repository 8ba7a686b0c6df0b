import { mkdtemp, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

type Stoppable = AsyncDisposable | { stop(): unknown } | { close(): unknown };

/** Starts something for all tests of the file that calls it. After the last of them the newest is stopped first. */
export async function ofFile<T extends Stoppable>(starting: Promise<T> | T): Promise<T> {
  const started = await starting;
  afterAll(async () => {
    if (Symbol.asyncDispose in started) await started[Symbol.asyncDispose]();
    else if ('stop' in started) await started.stop();
    else await started.close();
  });
  return started;
}

/** A folder of its own for a test, removed when it is disposed of. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file and gives its path. Each one written has a modification time of its own. */
  write(name: string, text: string): Promise<string>;
}

export async function newFolder(): Promise<Folder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'throughline-test-')));
  let seconds = Date.UTC(2026, 0, 1) / 1000;
  return {
    path,
    async write(name, text) {
      const file = join(path, name);
      await writeFile(file, text);
      seconds += 1;
      await utimes(file, seconds, seconds);
      return file;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** The path of a new folder that is removed after the last test of the file. */
export async function folderOfFile(): Promise<string> {
  return (await ofFile(newFolder())).path;
}

/** Does something after the test that runs: what was added last is done first. */
export function afterTest(release: () => unknown): void {
  onTestFinished(async () => {
    await release();
  });
}

/** The path of a new folder that is removed after the test that runs. */
export async function folderOfTest(): Promise<string> {
  const folder = await newFolder();
  afterTest(() => folder[Symbol.asyncDispose]());
  return folder.path;
}

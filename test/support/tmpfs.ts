import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdtemp, open, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A disk of its own, small enough to be filled in a moment. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Takes all the room that is left. */
  fill(): Promise<void>;
  /** Gives that room back. */
  makeRoom(): Promise<void>;
}

/** Why no disk of its own can be had here; `undefined` where one can. */
export const TMPFS_MISSING = whyNoTmpfs();

function whyNoTmpfs(): string | undefined {
  if (process.platform !== 'linux') return 'tmpfs is of Linux';
  const path = mkdtempSync(join(tmpdir(), 'throughline-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'throughline-test', path], { stdio: 'pipe' });
    execFileSync('umount', [path]);
    return undefined;
  } catch {
    return 'mounting a disk of its own is not permitted: run the tests as root';
  } finally {
    rmdirSync(path);
  }
}

export async function mountTmpfs(options: { megabytes?: number; readOnly?: true } = {}): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'throughline-disk-'));
  const mode = options.readOnly ? ',ro' : '';
  await run('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${options.megabytes ?? 64}m${mode}`,
    'throughline-test',
    path,
  ]);
  const ballast = join(path, 'ballast');
  return {
    path,
    async fill() {
      const file = await open(ballast, 'a');
      try {
        for (let size = 1024 * 1024; size >= 1; size /= 2) await fillBy(file, Buffer.alloc(size));
      } finally {
        await file.close();
      }
    },
    makeRoom: () => rm(ballast),
    async [Symbol.asyncDispose]() {
      await run('umount', ['--lazy', path]);
      await rmdir(path);
    },
  };
}

async function fillBy(file: Awaited<ReturnType<typeof open>>, chunk: Buffer): Promise<void> {
  try {
    for (;;) await file.appendFile(chunk);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}

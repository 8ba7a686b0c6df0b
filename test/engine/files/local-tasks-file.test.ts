import { execFile } from 'node:child_process';
import { constants, linkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { mkdir, open, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { localTasksFile } from '../../../src/engine/files/local-tasks-file.js';
import { folderOfFile } from '../../support/of-file.js';

const TEXT = '- [ ] 1. été\n';
const CHANGED_AT = new Date('2026-03-01T12:00:00.500Z');

const at = (...names: string[]) => join(folder, ...names);

const folder = await folderOfFile();
await mkdir(at('root', 'specs'), { recursive: true });
await mkdir(at('root-beside'));
await mkdir(at('second'));
await Promise.all([
  writeFile(at('root', 'specs', 'tasks.md'), TEXT),
  writeFile(at('root', '..tasks.md'), TEXT),
  writeFile(at('root-beside', 'tasks.md'), TEXT),
  writeFile(at('second', 'tasks.md'), TEXT),
  writeFile(at('secret.md'), TEXT),
  writeFile(at('root', 'large.md'), TEXT),
  writeFile(at('root', 'largest.md'), TEXT),
  writeFile(at('root', 'latin1.md'), Buffer.from([0x2d, 0x20, 0xe9])),
]);
await truncate(at('root', 'large.md'), 1024 * 1024 + 1);
await truncate(at('root', 'largest.md'), 1024 * 1024);
await symlink(at('root', 'specs', 'tasks.md'), at('root', 'inward.md'));
await symlink(at('secret.md'), at('root', 'outward.md'));
await symlink(folder, at('root', 'up'));
await symlink(at('root', 'nowhere.md'), at('root', 'dangling.md'));
await symlink(at('root', 'circle.md'), at('root', 'circle.md'));
await symlink(at('root'), at('root-link'));
await promisify(execFile)('mkfifo', [at('root', 'pipe.md')]);
await utimes(at('root', 'specs', 'tasks.md'), CHANGED_AT, CHANGED_AT);

describe('a tasks file', () => {
  it.each([
    ['an absolute path', () => at('root', 'specs', 'tasks.md')],
    ['a path relative to the first root', () => 'specs/tasks.md'],
    ['a path that goes out and comes back', () => '../root/specs/tasks.md'],
    ['a path through a link to a root', () => at('root-link', 'specs', 'tasks.md')],
  ])('a tasks file under a root is read: %s', async (_what, path) => {
    const files = localTasksFile([at('root'), at('second')]);
    expect(await files.read(path())).toEqual({ text: TEXT, mtimeMs: CHANGED_AT.getTime() });
    expect(await files.modified(path())).toEqual({ mtimeMs: CHANGED_AT.getTime() });
  });

  it('a tasks file may have a name that begins with two dots', async () => {
    expect(await localTasksFile([at('root')]).read('..tasks.md')).toMatchObject({ text: TEXT });
  });

  it('a tasks file is read under any of the roots, also where a root is a link or another one is not there', async () => {
    const roots = [at('no-such-root'), at('root-link'), at('second')];
    expect(await localTasksFile(roots).read(at('second', 'tasks.md'))).toMatchObject({ text: TEXT });
    expect(await localTasksFile(roots).read(at('root', 'specs', 'tasks.md'))).toMatchObject({ text: TEXT });
  });

  it('a tasks file may be 1 MiB long, and hold bytes that are not UTF-8', async () => {
    const files = localTasksFile([at('root')]);
    expect(await files.read('largest.md')).toMatchObject({ text: expect.stringMatching(/^- \[ \] 1\. été/) });
    expect(await files.read('latin1.md')).toMatchObject({ text: '- \ufffd' });
  });
});

describe('a fault', () => {
  const outside =
    /^is outside the configured roots \(.*root.*\): send its text too \(tasksText\), or see THROUGHLINE_TASKS_ROOTS$/;

  it.each([
    ['a file outside of the roots', () => at('secret.md'), outside],
    ['a relative path out of the root', () => '../secret.md', outside],
    ['a folder whose name begins with that of a root', () => at('root-beside', 'tasks.md'), outside],
    ['a link to a file outside', () => 'outward.md', outside],
    ['a file behind a linked folder', () => 'up/secret.md', outside],
    ['a link to a file under the root', () => 'inward.md', /^is a symbolic link$/],
    ['a file that is not there', () => 'specs/none.md', /does not exist/],
    ['a link to nothing', () => 'dangling.md', /does not exist/],
    ['a link to itself', () => 'circle.md', /ELOOP/],
    ['a file below a file', () => 'specs/tasks.md/more', /ENOTDIR/],
    ['a path with a NUL', () => 'specs\0tasks.md', /null bytes/],
    ['a folder', () => 'specs', /^is not a file$/],
    ['the root itself', () => '.', /^is not a file$/],
    ['a pipe, which nobody writes to', () => 'pipe.md', /^is not a file$/],
  ])('a tasks file is refused for %s', async (_what, path, fault) => {
    const files = localTasksFile([at('root')]);
    expect(await files.read(path())).toEqual({ fault: expect.stringMatching(fault) });
    expect(await files.modified(path())).toEqual({ fault: expect.stringMatching(fault) });
  });

  it('a tasks file is refused for a linked folder that leads from one root to another', async () => {
    await symlink(at('second'), at('root', 'over'));
    const files = localTasksFile([at('second'), at('root')]);
    const more = localTasksFile([at('second')], () => [at('root')]);
    for (const tried of [files, more])
      expect(await tried.read(at('root', 'over', 'tasks.md'))).toEqual({
        fault: expect.stringMatching(/^is outside the configured roots/),
      });
  });

  it('a tasks file that is too large is refused with its size', async () => {
    expect(await localTasksFile([at('root')]).read('large.md')).toEqual({
      fault: 'has 1048577 bytes, the limit is 1048576',
    });
  });

  it('a tasks file is refused at any path when no root is configured', async () => {
    const fault = 'no root is configured: set THROUGHLINE_TASKS_ROOTS';
    expect(await localTasksFile([]).read(at('secret.md'))).toEqual({ fault });
    expect(await localTasksFile([]).modified('tasks.md')).toEqual({ fault });
  });
});

describe('a file that is exchanged while it is read', () => {
  const FORBIDDEN = 'not for agents\n';
  /** More event loop iterations than a read needs. */
  const TURNS = 25;
  const HANGS_MS = 5000;
  let place: string;
  let decoy: string;
  beforeAll(async () => {
    [place, decoy] = [at('root', 'exchanged.md'), at('root', 'decoy')];
    await writeFile(at('forbidden.md'), FORBIDDEN);
    await promisify(execFile)('mkfifo', [at('fifo')]);
  });

  /** Reads the file and replaces it after `turns` event loop iterations. */
  async function exchangedAfter(turns: number, put: () => void) {
    await writeFile(decoy, TEXT);
    renameSync(decoy, place);
    const reading = localTasksFile([at('root')]).read(place);
    for (let each = 0; each < turns; each += 1) await turn();
    put();
    renameSync(decoy, place);
    const found = await Promise.race([reading, wait(HANGS_MS, 'hangs' as const, { ref: false })]);
    unlinkSync(place);
    return found;
  }

  it.each([
    ['a pipe', () => linkSync(at('fifo'), decoy)],
    ['a link to a file outside of the roots', () => symlinkSync(at('forbidden.md'), decoy)],
    ['a link to a device', () => symlinkSync('/dev/zero', decoy)],
  ])(
    'a file that is exchanged while it is read never holds its reader, and never gives what is not allowed: %s',
    async (_what, put) => {
      try {
        for (let turns = 0; turns < TURNS; turns += 1) {
          const found = await exchangedAfter(turns, put);
          expect(found).not.toBe('hangs');
          expect([TEXT, undefined]).toContain(found !== 'hangs' && 'text' in found ? found.text : undefined);
        }
      } finally {
        // Unblocks a reader that waits for a writer.
        await (await open(at('fifo'), constants.O_RDWR | constants.O_NONBLOCK)).close();
      }
    },
  );

  it('a file is not read where a folder on the way leads elsewhere meanwhile', async () => {
    await mkdir(at('outside'));
    await writeFile(at('outside', 'tasks.md'), FORBIDDEN);
    await symlink(at('outside'), at('away'));
    for (let turns = 0; turns < TURNS; turns += 1) {
      await mkdir(at('root', 'way'));
      await writeFile(at('root', 'way', 'tasks.md'), TEXT);
      const reading = localTasksFile([at('root')]).read('way/tasks.md');
      for (let each = 0; each < turns; each += 1) await turn();
      renameSync(at('root', 'way'), at('kept'));
      renameSync(at('away'), at('root', 'way'));
      const found = await reading;
      renameSync(at('root', 'way'), at('away'));
      await rm(at('kept'), { recursive: true });
      expect([TEXT, undefined]).toContain('text' in found ? found.text : undefined);
    }
  });
});

it('the error for a socket says that it is not a file', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(at('root', 'socket.md'), resolve));
  expect(await localTasksFile([at('root')]).read('socket.md')).toEqual({ fault: 'is not a file' });
  await new Promise((resolve) => server.close(resolve));
});

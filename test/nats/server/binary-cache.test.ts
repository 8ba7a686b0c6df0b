import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { installIntoCache } from '../../../src/nats/server/install-server.js';
import { cacheDirOf } from '../../../src/nats/server/server-version.js';
import { folderOfTest } from '../../support/of-file.js';

describe('cacheDirOf', () => {
  it.each([
    [{ XDG_CACHE_HOME: '/xdg' }, '/xdg/throughline'],
    [{ XDG_CACHE_HOME: 'relative' }, '/me/.cache/throughline'],
    [{ XDG_CACHE_HOME: '' }, '/me/.cache/throughline'],
  ])('the cache folder for %j is %s', (env, expected) => {
    expect(cacheDirOf(env, '/me')).toBe(expected);
  });
});

describe('installIntoCache', () => {
  let root: string;
  beforeEach(async () => {
    root = await folderOfTest();
  });

  it('installing into the cache keeps what was there when the build fails, and removes its own folder', async () => {
    const target = join(root, 'tool');
    await writeFile(target, 'old');
    const build = async (folder: string) => {
      await writeFile(join(folder, 'tool'), 'half');
      throw new Error('out of disk');
    };
    await expect(installIntoCache(target, build)).rejects.toThrow('out of disk');
    expect(await readFile(target, 'utf8')).toBe('old');
    expect(await readdir(root)).toEqual(['tool']);
  });

  it('installing into the cache replaces the program in one step', async () => {
    const target = join(root, 'tool');
    await writeFile(target, 'old');
    await installIntoCache(target, async (folder) => {
      await writeFile(join(folder, 'built'), 'new');
      expect(await readFile(target, 'utf8')).toBe('old');
      return join(folder, 'built');
    });
    expect(await readFile(target, 'utf8')).toBe('new');
  });
});

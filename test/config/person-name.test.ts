import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { personName } from '../../src/config/person-name.js';
import { folderOfTest } from '../support/of-file.js';

const OWN = { kind: 'own', store: '/none' } as const;
const MEMBER = { kind: 'team', url: 'nats://team', as: 'bob', access: {} } as const;
afterEach(() => vi.unstubAllEnvs());

it('a person has the name of git in a repository, else that of the user, and none without git', async () => {
  const [home, folder] = [await folderOfTest(), await folderOfTest()];
  vi.stubEnv('HOME', home);
  expect(personName(OWN, folder)).toBeUndefined();
  await writeFile(
    join(home, 'dotfile'),
    '[core]\n\tname = x\n[User]\n\temail = a@b.c\n\tName = "Ann = B"\n[alias]\n',
  );
  await symlink(join(home, 'dotfile'), join(home, '.gitconfig'));
  expect(personName(OWN, folder)).toBe('Ann = B');
  await mkdir(join(folder, '.git'));
  await writeFile(join(folder, '.git', 'config'), '[user]\nname=ann\u202e\n');
  expect(personName(OWN, folder)).toBe('ann');
  expect(personName(MEMBER, folder)).toBe('bob');
});

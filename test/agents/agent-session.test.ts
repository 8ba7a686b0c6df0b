import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentSession } from '../../src/agents/agent-session.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'throughline-agent-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), text);
}

const at = (env: Record<string, string> = {}, under = '') =>
  agentSession({ env, directory: join(folder, under) });

describe('the session of an agent', () => {
  it('the session is the variable, else the file of the project, else the branch, else the folder', async () => {
    expect(at()).toEqual({ session: basename(folder) });
    await write('.git/HEAD', 'ref: refs/heads/feature/login\n');
    expect(at()).toEqual({ session: 'feature-login' });
    await write('.throughline.json', '{"session":"my app","project":"shop","plan":"specs/tasks.md"}');
    expect(at()).toEqual({ session: 'my-app', project: 'shop', plan: join(folder, 'specs/tasks.md') });
    expect(at({ THROUGHLINE_SESSION: 'given', THROUGHLINE_PROJECT: 'other' })).toMatchObject({
      session: 'given',
      project: 'other',
    });
  });

  it('file and branch are found from a folder inside the project', async () => {
    await write('.git/HEAD', 'ref: refs/heads/main\n');
    await write('.throughline.json', '{"project":"shop"}');
    await mkdir(join(folder, 'src/deep'), { recursive: true });
    expect(at({}, 'src/deep')).toEqual({ session: 'main', project: 'shop' });
  });

  it('a work tree has the branch of its own, and without a branch the name of its folder', async () => {
    await write('.git/worktrees/w/HEAD', 'ref: refs/heads/w-branch\n');
    await write('tree/.git', `gitdir: ${join(folder, '.git/worktrees/w')}\n`);
    expect(at({}, 'tree')).toEqual({ session: 'w-branch' });
    await write('.git/worktrees/w/HEAD', '5f1a0c\n');
    expect(at({}, 'tree')).toEqual({ session: 'tree' });
  });

  it('the file of another project further up is not used', async () => {
    await write('.throughline.json', '{"session":"outer"}');
    await write('inner/.git/HEAD', 'ref: refs/heads/main\n');
    expect(at({}, 'inner')).toEqual({ session: 'main' });
  });

  it.each([
    ['{', 'remove the file and run "throughline connect" again'],
    ['[]', 'it is not a JSON object'],
    ['{"session":5}', 'session is 5: write a text'],
    ['{"agents":{"builder":1}}', 'agents.builder is 1: write a role'],
  ])('a file that holds %s is refused with its path and the fix', async (text, said) => {
    await write('.throughline.json', text);
    expect(() => at()).toThrow(said);
    expect(() => at()).toThrow(join(folder, '.throughline.json'));
  });
});

import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentSession } from '../../src/agents/agent-session.js';
import { recordConnected } from '../../src/engine/files/connected-projects.js';

let folder = '';
let state = '';
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'throughline-agent-')));
  state = await mkdtemp(join(tmpdir(), 'throughline-agent-state-'));
});
afterEach(async () => {
  for (const each of [folder, state]) await rm(each, { recursive: true, force: true });
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), text);
}

const at = (env: Record<string, string> = {}, under = '') =>
  agentSession({ env: { XDG_STATE_HOME: state, ...env }, directory: join(folder, under) });
const connect = (session: string, project: string, under = '', more = {}) =>
  recordConnected(join(state, 'throughline'), join(folder, under), { session, project, ...more });

describe('the session of an agent', () => {
  it('the session is the variable, else the file of the project, else the branch, else the folder', async () => {
    expect(at()).toEqual({ session: basename(folder) });
    await write('.git/HEAD', 'ref: refs/heads/feature/login\n');
    expect(at()).toEqual({ session: 'feature-login' });
    await write('.throughline.json', '{"session":"my app","project":"shop","plan":"specs/tasks.md"}');
    connect('my app', 'shop', '', { plan: 'specs/tasks.md' });
    expect(at()).toEqual({ session: 'my-app', project: 'shop', plan: join(folder, 'specs/tasks.md') });
    expect(at({ THROUGHLINE_SESSION: 'given', THROUGHLINE_PROJECT: 'other' })).toMatchObject({
      session: 'given',
      project: 'other',
    });
  });

  it('file and branch are found from a folder inside the project', async () => {
    await write('.git/HEAD', 'ref: refs/heads/main\n');
    await mkdir(join(folder, 'src/deep'), { recursive: true });
    expect(at({}, 'src/deep')).toEqual({ session: 'main' });
    await write('.throughline.json', '{"project":"shop"}');
    connect('app', 'shop');
    expect(at({}, 'src/deep')).toEqual({ session: 'app', project: 'shop' });
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

  it('the file of a project that is not connected is not used, and a session that is named needs none', async () => {
    await write('.throughline.json', '{"session":"secret","project":"shop","plan":"tasks.md"}');
    expect(() => at()).toThrow(`Run "throughline connect" in ${folder} once`);
    expect(at({ THROUGHLINE_SESSION: 'given' })).toEqual({ session: 'given' });
  });

  it('after connecting, all that was recorded counts, and a change in the file is said', async () => {
    const file = { session: 'other', project: 'shop', plan: '../tasks.md', agents: { main: 'observer' } };
    await write('.throughline.json', JSON.stringify(file));
    connect('app', 'shop', '', { plan: 'tasks.md', agents: { builder: 'implementer' } });
    expect(at()).toEqual({
      ...{ session: 'app', project: 'shop', plan: join(folder, 'tasks.md') },
      agents: { builder: 'implementer' },
      changed: `${join(folder, '.throughline.json')} names session "other" (connected: "app") and plan "../tasks.md" (connected: "tasks.md") and agents {"main":"observer"} (connected: {"builder":"implementer"}), which is not used: run "throughline connect" to accept it`,
    });
    connect('app', 'shop');
    expect(at()).toMatchObject({
      changed: expect.stringContaining('plan "../tasks.md" (connected: none)'),
    });
    expect(at()).not.toHaveProperty('plan');
    await write('.throughline.json', `{"plan":${JSON.stringify(join(folder, 'tasks.md'))}}`);
    connect('app', 'shop', '', { plan: 'tasks.md' });
    expect(at()).not.toHaveProperty('changed');
  });

  it('a branch or folder that is named after the session of another project does not lead to it', async () => {
    await write('app/.throughline.json', '{}');
    connect('app', 'shop', 'app');
    await write('clone/.git/HEAD', 'ref: refs/heads/app\n');
    expect(() => at({}, 'clone')).toThrow(`belongs to ${join(folder, 'app')}`);
    expect(at({ THROUGHLINE_SESSION: 'app' }, 'clone')).toEqual({ session: 'app' });
  });

  it('a work tree of a connected project is connected, and a file that only claims to be one is not', async () => {
    await write('app/.git/HEAD', 'ref: refs/heads/main\n');
    connect('app', 'shop', 'app');
    for (const tree of ['tree', 'claim']) {
      await write(`${tree}/.git`, `gitdir: ${join(folder, 'app/.git/worktrees/tree')}\n`);
      await write(`${tree}/.throughline.json`, '{}');
    }
    await write('app/.git/worktrees/tree/gitdir', `${join(folder, 'tree/.git')}\n`);
    expect(at({}, 'tree')).toEqual({ session: 'app', project: 'shop' });
    expect(() => at({}, 'claim')).toThrow('you have not connected this project');
  });

  it('no link in an unpacked archive makes it a work tree of a connected project', async () => {
    await write('app/.git/HEAD', 'ref: refs/heads/main\n');
    connect('app', 'shop', 'app');
    await write('archive/sub/.throughline.json', '{}');
    // A folder of the claimed main work tree is a link to the connected project.
    await write('archive/.git', 'gitdir: own/.git/worktrees/w\n');
    await write('archive/own/.git/worktrees/w/gitdir', `${join(folder, 'archive/.git')}\n`);
    await symlink(join(folder, 'app'), join(folder, 'archive/own/sub'));
    expect(() => at({}, 'archive/sub')).toThrow('you have not connected this project');
  });

  it('a repository inside a work tree is not the folder of the same path in the main work tree', async () => {
    await write('app/.git/worktrees/tree/gitdir', `${join(folder, 'tree/.git')}\n`);
    await write('app/inner/.throughline.json', '{}');
    connect('app', 'shop', 'app/inner');
    await write('tree/.git', `gitdir: ${join(folder, 'app/.git/worktrees/tree')}\n`);
    await write('tree/inner/.throughline.json', '{}');
    expect(at({}, 'tree/inner')).toEqual({ session: 'app', project: 'shop' });
    await write('tree/inner/.git/HEAD', 'ref: refs/heads/main\n');
    expect(() => at({}, 'tree/inner')).toThrow('you have not connected this project');
  });

  it.each([
    ['{', 'remove the file and run "throughline connect" again'],
    ['[]', 'it is not a JSON object'],
    ['{"session":5}', 'session is 5: write a text'],
    ['{"agents":{"builder":1}}', 'agents.builder is 1: write a role'],
  ])('a file that holds %s is refused with its path and the fix', async (text, said) => {
    await write('.throughline.json', text);
    connect('app', 'shop');
    expect(() => at()).toThrow(said);
    expect(() => at()).toThrow(join(folder, '.throughline.json'));
  });
});

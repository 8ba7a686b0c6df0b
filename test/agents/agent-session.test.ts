import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { agentSession } from '../../src/agents/agent-session.js';
import { recordConnected } from '../../src/config/connected-projects.js';
import { repositoryOf } from '../../src/config/git-repository.js';
import { folderOfTest } from '../support/of-file.js';

let folder = '';
let state = '';
beforeEach(async () => {
  folder = await folderOfTest();
  state = await folderOfTest();
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
  const own = (name: string, under = name) => ({
    session:
      `${name}-${createHash('sha256').update(join(folder, under)).digest('hex').slice(0, 6)}`.toLowerCase(),
  });

  it('the session is the variable, else the file of the project, else owner and name of the remote', async () => {
    await write('.git/HEAD', 'ref: refs/heads/feature/login\n');
    await write(
      '.git/config',
      '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@github.com:acme/shop.git\n',
    );
    const project = { session: 'acme-shop', project: 'acme-shop', isGuessed: true };
    expect(at()).toEqual({ ...project, branch: 'feature/login' });
    await write('.git/HEAD', 'ref: refs/heads/main\n');
    expect(at()).toEqual({ ...project, branch: 'main' });
    await write('.throughline.json', '{"session":"my app","project":"shop","plan":"specs/tasks.md"}');
    connect('my app', 'shop', '', { plan: 'specs/tasks.md' });
    const plan = join(folder, 'specs/tasks.md');
    expect(at()).toEqual({ session: 'my-app', project: 'shop', plan, branch: 'main' });
    expect(at({ THROUGHLINE_SESSION: 'given', THROUGHLINE_PROJECT: 'other' })).toMatchObject({
      session: 'given',
      project: 'other',
    });
  });

  it.each([
    ['https://gitlab.com/group/sub/shop.git', 'group-sub-shop'],
    ['https://user:secret@host/Acme/Shop.git/', 'acme-shop'],
    ['ssh://git@host:22/acme/shop', 'acme-shop'],
    ['git@host:acme/shop.git', 'acme-shop'],
    ['host:/acme/shop', 'acme-shop'],
    ['/srv/git/shop.git', undefined],
    ['../shop', undefined],
    ['file:///srv/shop', undefined],
  ])('of the remote %s the session is %s', async (url, session) => {
    await write('p/.git/HEAD', 'ref: refs/heads/main\n');
    await write('p/.git/config', `[remote "up"]\n  fetch = x\n  url = ${url}\n`);
    expect(at({}, 'p').session).toBe(session ?? own('p').session);
  });

  it('without a remote the session is the name of the folder with a hash of its path, for each folder inside', async () => {
    await mkdir(join(folder, 'plain'));
    expect(at({}, 'plain')).toMatchObject(own('plain'));
    await write('app/.git/HEAD', 'ref: refs/heads/main\n');
    await mkdir(join(folder, 'app/src/deep'), { recursive: true });
    expect(at({}, 'app/src/deep')).toMatchObject({ ...own('app'), branch: 'main' });
  });

  it('a work tree shares session and settings of its repository, and has the branch of its own', async () => {
    await write('app/.git/HEAD', 'ref: refs/heads/main\n');
    await write('app/.git/worktrees/w/HEAD', 'ref: refs/heads/w-branch\n');
    await write('app/.git/worktrees/w/commondir', '../..\n');
    await write('app/.git/worktrees/w/gitdir', `${join(folder, 'tree/.git')}\n`);
    await write('tree/.git', `gitdir: ${join(folder, 'app/.git/worktrees/w')}\n`);
    await mkdir(join(folder, 'tree/src'));
    expect(at({}, 'tree')).toMatchObject({ ...own('app'), branch: 'w-branch' });
    await write('app/.throughline.json', '{}');
    connect('shop', 'shop', 'app', { plan: 'tasks.md' });
    const settings = { session: 'shop', project: 'shop', branch: 'w-branch' };
    expect(at({}, 'tree/src')).toEqual({ ...settings, plan: join(folder, 'app/tasks.md') });
    // A file that only claims to be a work tree gets neither.
    await write('claim/.git', `gitdir: ${join(folder, 'app/.git/worktrees/w')}\n`);
    expect(at({}, 'claim')).toMatchObject(own('claim'));
    await write('claim/.git', `gitdir: ${join(folder, 'app/.git')}\n`);
    expect(at({}, 'claim')).toMatchObject(own('claim'));
  });

  it('the file of another project further up is not used', async () => {
    await write('.throughline.json', '{"session":"outer"}');
    await write('inner/.git/HEAD', 'ref: refs/heads/main\n');
    expect(at({}, 'inner')).toMatchObject(own('inner'));
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
      session: 'app',
      project: 'shop',
      plan: join(folder, 'tasks.md'),
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
    await write('.throughline.json', '{"plan":"tasks.md","sesion":"app"}');
    expect(at().changed).toMatch(/ has sesion \(did you mean session\?\), which has no effect$/);
  });

  it('a remote that is named after the session of another project does not lead to it', async () => {
    await write('app/.git/config', '[remote "origin"]\nurl = https://host/acme/app\n');
    await write('app/.throughline.json', '{}');
    connect('acme-app', 'shop', 'app');
    await write('clone/.git/config', '[remote "origin"]\nurl = https://host/acme/app\n');
    expect(() => at({}, 'clone')).toThrow(`belongs to ${join(folder, 'app')}`);
    expect(at({ THROUGHLINE_SESSION: 'acme-app' }, 'clone')).toEqual({ session: 'acme-app' });
    await write('other/.git/config', '[remote "origin"]\nurl = https://other/acme/app\n');
    expect(at({}, 'other').session).toMatch(/^acme-app-[0-9a-f]{6}$/);
  });

  const used = (under: string) =>
    agentSession({ env: { XDG_STATE_HOME: state }, directory: join(folder, under), keep: true }).session;
  const clone = (name: string, url: string, more = '') =>
    write(`${name}/.git/config`, `${more}[remote "origin"]\n\turl = ${url}\n`);

  it('a clone with hundreds of branches keeps its session', async () => {
    const branches = (count: number) =>
      Array.from({ length: count }, (_, at) => `[branch "feature/${at}"]\n\tremote = origin\n`).join('');
    await clone('web', 'git@host:acme/web.git', branches(2000));
    expect(used('web')).toBe('acme-web');
  });

  it('a session that was used in a folder stays, whatever becomes of the remote', async () => {
    await clone('web', 'git@host:acme/web.git');
    expect(used('web')).toBe('acme-web');
    await clone('web', 'git@host:acme/renamed.git');
    expect(used('web')).toBe('acme-web');
    await write('web/.git/config', '#'.repeat(2 * 1024 * 1024));
    expect(at({}, 'web').session).toBe('acme-web');
    // Another repository at the same path is another one.
    await rm(join(folder, 'web'), { recursive: true });
    await clone('web', 'git@host:acme/other.git');
    expect(used('web')).toBe('acme-other');
  });

  it.skipIf(process.platform !== 'linux')(
    'on a file system without times of birth a repository is known by the number of its folder',
    () => {
      const { born, ino } = { ...repositoryOf('/proc/sys', undefined), ...statSync('/proc/sys') };
      expect(born).toBe(ino);
    },
  );

  it('a session that is only shown belongs to no repository', async () => {
    await clone('web', 'git@host:acme/web.git');
    expect(at({}, 'web').session).toBe('acme-web');
    await clone('fork', 'git@other:acme/web.git');
    expect(used('fork')).toBe('acme-web');
  });

  it.each([
    ['another host', 'https://host/acme/web', 'https://other.example/acme/web', 'acme-web'],
    ['another group', 'https://host/acme/web-app', 'https://host/acme-web/app', 'acme-web-app'],
    ['another subgroup', 'https://host/one-two/api', 'https://host/one/two/api', 'one-two-api'],
  ])(
    'a repository of %s gets the name with a hash, and the first keeps it',
    async (_, first, second, name) => {
      await clone('first', first);
      await clone('second', second);
      expect(used('first')).toBe(name);
      const other = used('second');
      expect(other).toMatch(new RegExp(`^${name}-[0-9a-f]{6}$`));
      expect([used('first'), used('second')]).toEqual([name, other]);
    },
  );

  it('clones of one address share a session, however the address is written', async () => {
    await clone('ssh', 'git@Host.example:Acme/Web.git');
    await clone('https', 'https://token@host.example:443/acme/web/');
    expect([used('ssh'), used('https')]).toEqual(['acme-web', 'acme-web']);
  });

  it('an archive with a link to the .git of a repository does not get its session', async () => {
    await write('app/.git/HEAD', 'ref: refs/heads/main\n');
    const session = used('app');
    await mkdir(join(folder, 'archive'));
    await symlink(join(folder, 'app/.git'), join(folder, 'archive/.git'));
    expect(used('archive')).not.toBe(session);
    // A work tree that names a repository which does not name it.
    await write('claim/own/worktrees/w/gitdir', `${join(folder, 'claim/.git')}\n`);
    await write('claim/own/worktrees/w/commondir', `${join(folder, 'app/.git')}\n`);
    await write('claim/.git', 'gitdir: own/worktrees/w\n');
    expect(used('claim')).not.toBe(session);
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

  it('without a recorded plan it is the one that `plan follow` finds, but none that a link leads to', async () => {
    await write('app/.git/HEAD', 'ref: refs/heads/main\n');
    await write('app/src/index.js', '');
    expect(at({}, 'app/src')).not.toHaveProperty('plan');
    await write('elsewhere/parser/tasks.md', '- [ ] 1 Parse\n');
    await symlink(join(folder, 'elsewhere'), join(folder, 'app/specs'));
    expect(at({}, 'app/src')).not.toHaveProperty('plan');
    await write('app/PLAN.md', '- [ ] 1 Parse\n');
    expect(at({}, 'app/src')).toMatchObject({ plan: join(folder, 'app/PLAN.md') });
    connect('shop', 'shop', 'app');
    await write('app/.throughline.json', '{}');
    expect(at({}, 'app/src')).toMatchObject({ session: 'shop', plan: join(folder, 'app/PLAN.md') });
    // Of several, nobody has chosen one.
    await write('app/TODO.md', '- [ ] 1 Parse\n');
    expect(at({}, 'app')).not.toHaveProperty('plan');
    await write('app/tasks.md', '- [ ] 1 Parse\n');
    expect(at({}, 'app')).toMatchObject({ plan: join(folder, 'app/tasks.md') });
    expect(at({ THROUGHLINE_SESSION: 'given' }, 'elsewhere')).not.toHaveProperty('plan');
  });

  it('turns are switched off by agents.turns, in the file as in the record', async () => {
    await write('.throughline.json', '{"agents":{"turns":false}}');
    connect('app', 'shop', '', { agents: { turns: 'false' } });
    expect(at()).toMatchObject({ turns: false });
    expect(at()).not.toHaveProperty('changed');
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

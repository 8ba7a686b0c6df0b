import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.js';
import { newSession, systemOfFile } from '../support/system.js';

/** `throughline work --worktrees` keeps a worktree that holds work which a merge does not bring back. */

const root = await mkdtemp(join(tmpdir(), 'throughline-kept-'));
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
const system = await systemOfFile({ env: { THROUGHLINE_TASKS_ROOTS: root } });
const AGENT = fileURLToPath(new URL('../support/scripted-agent.mjs', import.meta.url));
const PLAN = '- [ ] T001 Write the lexer\n';
const run = promisify(execFile);

/** A cloned repository whose implementer runs shell commands in its worktree, and then says that it has done its work. */
async function repository(implementer: string, ignored = '') {
  const session = newSession('kept');
  const own = join(root, session);
  const [origin, folder, trees] = [join(own, 'origin'), join(own, 'clone'), join(own, 'trees')];
  await mkdir(origin, { recursive: true });
  const git = async (at: string, ...args: string[]) =>
    (await run('git', ['-C', at, '-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args])).stdout.trim();
  await writeFile(join(origin, 'tasks.md'), PLAN);
  await writeFile(join(origin, '.gitignore'), ignored);
  await git(origin, 'init', '--quiet', '--initial-branch', 'main');
  await git(origin, 'add', '--all');
  await git(origin, 'commit', '--quiet', '-m', 'begin');
  await run('git', ['clone', '--quiet', origin, folder]);
  await git(folder, 'config', 'user.name', 'A');
  await git(folder, 'config', 'user.email', 'a@b.c');
  await writeFile(
    join(own, 'implementer.sh'),
    `set -e\nexec 3>&1 1>&2\n${implementer}\nexec 1>&3\nexec ${process.execPath} ${AGENT} ${own}\n`,
  );
  const args = [
    ...['work', '--plan', 'tasks.md', '-s', session, '--tick', '--worktrees', trees],
    ...['--implementer', `sh ${join(own, 'implementer.sh')}`],
    ...['--reviewer', `${process.execPath} ${AGENT} ${own}`],
  ];
  const env = { NATS_URL: system.url, XDG_STATE_HOME: join(own, 'state') };
  const tree = join(trees, 'T001');
  const branch = `throughline/${session}/T001`;
  return {
    ...{ folder, tree, branch },
    git,
    work: () => cli(args, { env, cwd: folder }),
    /** Runs the command that the run says will help. */
    helped: async (stdout: string) => {
      const command = /run ("|')(git .+?)\1/.exec(stdout)?.[2] ?? '';
      expect(command).not.toBe('');
      await run('sh', ['-c', command], { cwd: folder });
    },
    async isOpen() {
      expect(await readFile(join(folder, 'tasks.md'), 'utf8')).toBe(PLAN);
      expect(existsSync(tree)).toBe(true);
    },
    async isClosed() {
      expect(await readFile(join(folder, 'tasks.md'), 'utf8')).toBe(PLAN.replace('[ ]', '[x]'));
      expect(existsSync(tree)).toBe(false);
      expect(await git(folder, 'branch', '--list', branch)).toBe('');
    },
    files: () => git(folder, 'ls-files'),
  };
}

const COMMIT = 'echo a > made; git add made; git commit --quiet -m made';

describe('a worktree', () => {
  it.each([
    ['on a detached HEAD', `git checkout --quiet --detach; ${COMMIT}`],
    ['on another branch', `git switch --quiet --create other; ${COMMIT}`],
    [
      'on another branch, after its own one was renamed',
      `git branch --quiet --move renamed-by-agent; ${COMMIT}`,
    ],
  ])('with commits %s is kept, and merged once the command that helps was run', async (_, implementer) => {
    const { work, helped, isOpen, isClosed, files } = await repository(implementer);
    const { code, stdout, stderr } = await work();
    expect({ code, stdout, stderr }).toMatchObject({ code: 3, stdout: expect.stringContaining('needs you') });
    await isOpen();
    await helped(stdout);
    expect(await work()).toMatchObject({ code: 0 });
    await isClosed();
    expect(await files()).toContain('made');
  });

  it.each([
    ['a repository', 'mkdir -p a/b; git init --quiet a/b; echo x > a/b/x'],
    [
      'a repository in an ignored folder',
      'mkdir -p ignored/b; git init --quiet ignored/b; echo x > ignored/b/x',
    ],
    ['a bare repository in an ignored folder', 'mkdir ignored; git init --quiet --bare ignored/b'],
  ])('with %s that the agent has made in it is kept', async (_, implementer) => {
    const { work, tree, isOpen } = await repository(implementer, 'ignored\n');
    const { code, stdout } = await work();
    expect({ code, stdout }).toMatchObject({ code: 3, stdout: expect.stringContaining('needs you') });
    expect(stdout).toContain(`/b is a repository of its own`);
    await isOpen();
    for (const inner of ['a', 'ignored']) await rm(join(tree, inner), { recursive: true, force: true });
    expect(await work()).toMatchObject({ code: 0 });
  });

  it('is merged as a branch, also where the repository has a tag of the same name', async () => {
    const { work, git, folder, branch, isClosed, files } = await repository(COMMIT);
    await git(folder, 'tag', branch, 'HEAD');
    expect(await work()).toMatchObject({ code: 0 });
    await isClosed();
    expect(await files()).toContain('made');
  });

  it('is merged with its new files, also where git is set to show none', async () => {
    const { work, isClosed, files } = await repository(
      'git config status.showUntrackedFiles no; echo a > made',
    );
    expect(await work()).toMatchObject({ code: 0 });
    await isClosed();
    expect(await files()).toContain('made');
  });

  it.each(['--skip-worktree', '--assume-unchanged'])(
    'with changes in a file that %s hides is kept',
    async (flag) => {
      const { work, isOpen } = await repository(`git update-index ${flag} .gitignore; echo x >> .gitignore`);
      const { code, stdout } = await work();
      expect({ code, stdout }).toMatchObject({ code: 3, stdout: expect.stringContaining('needs you') });
      expect(stdout).toContain('an index flag hides .gitignore from git');
      await isOpen();
    },
  );

  it('is not made for a repository that is on no branch, where merges would be lost', async () => {
    const { work, git, folder, tree } = await repository(COMMIT);
    await git(folder, 'checkout', '--quiet', '--detach');
    expect(await work()).toMatchObject({ code: 2, stderr: expect.stringContaining('git switch') });
    expect(existsSync(tree)).toBe(false);
  });

  it('is kept where another branch is checked out in the repository meanwhile', async () => {
    const { work, git, folder, isOpen } = await repository(
      `${COMMIT}; git -C ../../clone switch --quiet --create stray`,
    );
    const { code, stdout } = await work();
    expect({ code, stdout }).toMatchObject({ code: 3, stdout: expect.stringContaining('needs you') });
    await isOpen();
    await git(folder, 'switch', '--quiet', 'main');
    expect(await work()).toMatchObject({ code: 0 });
  });

  it('whose .git file is gone is kept, and merged once it is repaired', async () => {
    const { work, helped, isOpen, isClosed, files } = await repository(`${COMMIT}; rm .git`);
    const { code, stdout } = await work();
    expect({ code, stdout }).toMatchObject({ code: 3, stdout: expect.stringContaining('needs you') });
    await isOpen();
    await helped(stdout);
    expect(await work()).toMatchObject({ code: 0 });
    await isClosed();
    expect(await files()).toContain('made');
  });

  it('that is removed after its merge drops ignored files, and names them', async () => {
    const { work, isClosed, files } = await repository(
      'mkdir dist; echo x > dist/x; echo y > local.env; echo a > made',
      'dist\n*.env\n',
    );
    const { code, stderr } = await work();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain('T001: ignored files were removed with the worktree: dist/, local.env');
    await isClosed();
    expect(await files()).toContain('made');
  });

  it('of a folder that someone else has made is not worked in', async () => {
    const { work, tree, isOpen } = await repository('echo a > made');
    await mkdir(tree, { recursive: true });
    await run('git', ['-C', tree, 'init', '--quiet']);
    const { code, stdout } = await work();
    expect({ code, stdout }).toMatchObject({
      code: 3,
      stdout: expect.stringContaining(`${tree} is not a worktree of`),
    });
    await isOpen();
    expect(existsSync(join(tree, 'made'))).toBe(false);
  });
});

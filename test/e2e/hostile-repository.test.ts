import { execFileSync, spawn } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { identityOf, isRunning } from '../../src/nats/server/process-identity.js';
import { cacheDirOf } from '../../src/nats/server/server-version.js';
import { payloadsOf } from '../agents/hooks/hooks.js';
import { type CliOptions, cli, startUp } from '../support/cli.js';
import { git, gitRepository } from '../support/git.js';
import { afterTest, folderOfTest, ofFile } from '../support/of-file.js';

/** A repository is data from a stranger: whatever a clone contains, the product signals, reads and writes nothing by it. */

/** A file of a repository: its text, or the place that a symbolic link names. */
type Planted = string | { readonly link: string };

/** A clone of a repository that contains these files, and a home of its own. */
async function cloned(files: Readonly<Record<string, Planted>>, branch = 'main') {
  const root = await folderOfTest();
  const [origin, clone, home] = [join(root, 'origin'), join(root, 'clone'), join(root, 'home')];
  await mkdir(origin);
  await mkdir(home);
  for (const [path, planted] of Object.entries(files)) {
    await mkdir(dirname(join(origin, path)), { recursive: true });
    if (typeof planted === 'string') await writeFile(join(origin, path), planted);
    else await symlink(planted.link, join(origin, path));
  }
  gitRepository(origin, branch);
  git(root, ['clone', '--quiet', origin, clone]);
  const env = {
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
    // Where the tests' nats-server is.
    XDG_CACHE_HOME: dirname(cacheDirOf(process.env, homedir())),
  };
  const run = (args: readonly string[], options: CliOptions = {}) =>
    cli(args, { cwd: clone, ...options, env: { ...env, ...options.env } });
  return { root, clone, home, env, run, unchanged: () => git(clone, ['status', '--porcelain']) };
}

function bystander() {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  afterTest(async () => child.kill('SIGKILL'));
  return identityOf(child.pid ?? 0);
}

const lock = (starter: object, server?: object) =>
  JSON.stringify({ starter, server, ...(server && { url: 'nats://127.0.0.1:9' }) });
const STORE = '.throughline';
const LOCK = `${STORE}/throughline-server.pid`;

const up = await ofFile(startUp());

describe('down in a cloned repository', () => {
  it.each([{}, { started: 'boot 1' }])(
    'a lock that names a process and %j as its start does not end it, nor with --store',
    async (start) => {
      const other = bystander();
      const named = { pid: other.pid, ...start };
      const { run } = await cloned({ [LOCK]: lock(named, named) });
      expect(await run(['down'])).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing runs') });
      await run(['down', '--store', STORE]);
      expect(isRunning(other)).toBe(true);
    },
  );

  it.each([0, 1, -1, -2])('a lock that names process %i signals nothing, nor with --store', async (pid) => {
    const { run } = await cloned({
      [LOCK]: lock({ pid }, { pid }),
    });
    expect((await run(['down'])).code).toBe(0);
    expect((await run(['down', '--store', STORE])).code).toBe(0);
  });
});

describe('up in a cloned repository', () => {
  it('up writes through no link that the repository contains, and leaves it as it was', async () => {
    const outside = join(await folderOfTest(), 'bashrc');
    await writeFile(outside, 'mine\n');
    const names = ['nats-server.conf', 'nats-server.log', 'throughline.log', 'throughline-token'];
    const { run, unchanged } = await cloned(
      Object.fromEntries(names.map((name) => [`${STORE}/${name}`, { link: outside }])),
    );
    afterTest(() => run(['down']));
    expect((await run(['up', '--detach', '--no-inspector'])).code).toBe(0);
    expect(unchanged()).toBe('');
    await run(['down']);
    // With its name, the files in it are ours, and links are replaced or refused.
    const named = await run(['up', '--detach', '--no-inspector', '--store', STORE]);
    expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining('throughline.log') });
    expect(await readFile(outside, 'utf8')).toBe('mine\n');
  });

  it('a server that a repository names is not used, nor one whose lock is a link', async () => {
    const other = bystander();
    const text = lock(other, other);
    const { run, clone } = await cloned({ [LOCK]: text, 'lock.json': text });
    expect((await run(['admin', 'health'])).stderr).toContain('does not run');
    await rm(join(clone, LOCK));
    await symlink(join(clone, 'lock.json'), join(clone, LOCK));
    expect((await run(['down', '--store', STORE])).stdout).toContain('nothing runs');
  });

  it('a pipe in place of a lock does not hold a command up', async () => {
    const { run, clone } = await cloned({ 'readme.md': 'x' });
    await mkdir(join(clone, STORE));
    execFileSync('mkfifo', [join(clone, LOCK)]);
    expect((await run(['down', '--store', STORE])).code).toBe(0);
    expect((await run(['down'])).code).toBe(0);
  });
});

describe('the settings of a cloned repository', () => {
  beforeAll(async () => {
    await up.cli(['publish', 'implementer', '-s', 'victim', '--wait'], {
      input: JSON.stringify({ task_id: '1', status: 'completed', summary: SECRET }),
    });
  });

  const SECRET = 'The vault opens with the red key';
  const start = { ...payloadsOf('claude').find(({ hook_event_name: event }) => event === 'SessionStart') };
  const stop = { ...payloadsOf('claude').find(({ hook_event_name: event }) => event === 'SubagentStop') };

  /** A clone that names the session `victim`, which knows something. */
  async function victim(files: Readonly<Record<string, Planted>>, branch?: string) {
    const repository = await cloned(files, branch);
    const env = { NATS_URL: up.url };
    const hook = (payload: object) =>
      repository.run(['hook', 'claude', '--within', '20000'], {
        env,
        input: JSON.stringify({ ...payload, cwd: repository.clone }),
      });
    const events = async () =>
      (await up.cli(['status', 'victim', '--json'])).stdout.replace(/"age[^,]*,/g, '');
    return { ...repository, env, hook, events };
  }

  it('a session that the file names is neither read nor written before the user connects the folder', async () => {
    const names = JSON.stringify({ session: 'victim', project: 'victim' });
    const { run, env, hook, events } = await victim({ '.throughline.json': names });
    const before = await events();
    const told = await hook(start);
    expect(told.code).toBe(0);
    expect(told.stdout).toContain('throughline connect');
    expect(told.stdout).not.toContain(SECRET);
    expect((await hook(stop)).stdout).toBe('');
    for (const args of [['prompt', '--kind', 'session-start'], ['status'], ['mcp']]) {
      const { code, stdout, stderr } = await run(args, { env });
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('Run "throughline connect"'),
      });
    }
    expect(await events()).toBe(before);

    // Someone who names the session is not affected, and someone who connects has seen its name.
    const named = await run(['prompt', '-s', 'victim', '--kind', 'session-start'], { env });
    expect(named.stdout).toContain(SECRET);
    const refused = await run(['connect'], { env });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('will read and write session victim of project victim');
    expect((await run(['connect', '--yes'], { env })).code).toBe(0);
    expect((await hook(start)).stdout).toContain(SECRET);
  });

  it('a plan and roles that a pull brings are not used before the user connects again', async () => {
    const { run, env, clone, root } = await victim({
      '.throughline.json': '{"session":"pulled","plan":"tasks.md"}',
      'tasks.md': '- [ ] 1 Ours\n',
    });
    expect((await run(['connect', '--yes'], { env })).code).toBe(0);
    git(clone, ['checkout', '--', '.']);
    const theirs = { session: 'pulled', plan: 'their.md', agents: { worker: 'reviewer' } };
    await writeFile(join(root, 'origin', '.throughline.json'), JSON.stringify(theirs));
    await writeFile(join(root, 'origin', 'their.md'), '- [ ] 1 Theirs\n');
    git(join(root, 'origin'), ['add', '--all']);
    git(join(root, 'origin'), ['commit', '--quiet', '--message', 'theirs']);
    git(clone, ['pull', '--quiet']);
    const { stderr } = await run(['status'], { env });
    expect(stderr).toContain(
      'names plan "their.md" (connected: "tasks.md") and agents {"worker":"reviewer"}',
    );
    const again = await run(['connect'], { env });
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('follow the plan their.md') });
    expect(again.stderr).toContain('have the roles {"worker":"reviewer"}');
    expect((await run(['connect', '--yes'], { env })).code).toBe(0);
    expect((await run(['status'], { env })).stderr).not.toContain('which is not used');
  });

  it.each(['../tasks.md', '/etc/tasks.md'])(
    'connect records no plan at %s, outside of the project',
    async (plan) => {
      const { run } = await cloned({ '.throughline.json': JSON.stringify({ session: 'mine', plan }) });
      const refused = await run(['connect', '--yes']);
      expect(refused).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is outside of the project'),
      });
      expect((await run(['status'])).stderr).toContain('you have not connected this project');
    },
  );

  it('a branch that is named after the session of another project does not lead to it', async () => {
    const own = await folderOfTest();
    const { run, env, hook, events } = await victim({ 'readme.md': 'x' }, 'victim');
    const connected = await run(['connect', '--session', 'victim', '--yes'], { env, cwd: own });
    expect(connected.code).toBe(0);
    const before = await events();
    const told = await hook(start);
    expect(told.stdout).not.toContain(SECRET);
    await hook(stop);
    expect(await events()).toBe(before);
  });

  it.each(['a pipe', 'an endless device', 'a link', 'a large file'])(
    '%s in place of .throughline.json holds neither hook nor command up',
    async (kind) => {
      const { run, clone } = await cloned({
        'readme.md': 'x',
        ...(kind === 'an endless device' && { '.throughline.json': { link: '/dev/zero' } }),
        ...(kind === 'a link' && { '.throughline.json': { link: 'readme.md' } }),
        ...(kind === 'a large file' && { '.throughline.json': `{"session":"${'x'.repeat(70_000)}"}` }),
      });
      const file = join(clone, '.throughline.json');
      if (kind === 'a pipe') execFileSync('mkfifo', [file]);
      const env = { NATS_URL: 'nats://127.0.0.1:9' };
      const input = JSON.stringify({ ...start, cwd: clone });
      for (let round = 0; round < 2; round += 1) {
        const hook = await run(['hook', 'claude', '--within', '20000'], { env, input });
        expect(hook).toMatchObject({ code: 0, stderr: '' });
        expect((await run(['status'], { env })).code).toBe(2);
        expect(await run(['connect', '--yes'], { env })).toMatchObject({
          code: 2,
          stderr: expect.stringContaining(`${file} is `),
        });
        // Also in a folder that was connected when it held a plain file.
        if (round > 0) break;
        await rm(file);
        expect((await run(['connect', '--yes'], { env })).code).toBe(0);
        await rm(file);
        if (kind === 'a pipe') execFileSync('mkfifo', [file]);
        else git(clone, ['checkout', '--', '.throughline.json']);
      }
    },
  );
});

describe('the plan of a cloned repository', () => {
  it.each(['a pipe', 'an endless device', 'a link', 'a large file'])(
    '%s in place of a plan is refused at once',
    async (kind) => {
      const { run, clone } = await cloned({
        'readme.md': 'x',
        ...(kind === 'an endless device' && { 'tasks.md': { link: '/dev/zero' } }),
        ...(kind === 'a link' && { 'tasks.md': { link: '/etc/passwd' } }),
        ...(kind === 'a large file' && { 'tasks.md': '- [ ] 1. Task\n'.repeat(80_000) }),
      });
      if (kind === 'a pipe') execFileSync('mkfifo', [join(clone, 'tasks.md')]);
      const env = { NATS_URL: up.url };
      const pushed = await run(['plan', 'follow', '-s', 'demo', 'tasks.md'], { env });
      expect(pushed).toMatchObject({ code: 1, stderr: expect.stringContaining('tasks.md') });
      const worked = await run(['work', '--plan', 'tasks.md', '--implementer', 'false', '--check', 'true'], {
        env,
      });
      expect(worked.code).not.toBe(0);
    },
  );
});

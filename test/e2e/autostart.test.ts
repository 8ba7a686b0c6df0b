import { once } from 'node:events';
import { mkdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { spoolCounts } from '../../src/agents/hooks/spool.js';
import { isRunning } from '../../src/nats/server/process-identity.js';
import { storeUse } from '../../src/nats/server/server-store.js';
import { cacheDirOf } from '../../src/nats/server/server-version.js';
import { payloadsOf } from '../agents/hooks/hooks.js';
import { cli } from '../support/cli.js';
import { freePort } from '../support/free-port.js';
import { connectMcp, MCP_WAYS } from '../support/mcp-clients.js';
import { afterTest, folderOfTest } from '../support/of-file.js';
import { soon } from '../support/soon.js';

/** Hooks, the MCP server and commands of a user whose server does not run. */

/** A user who has once started a server on a port of its own, which has ended since. */
async function user() {
  const root = await folderOfTest();
  const [folder, store] = [join(root, 'shop'), join(root, 'state', 'throughline', 'server')];
  await mkdir(folder);
  const env = {
    HOME: root,
    XDG_STATE_HOME: join(root, 'state'),
    THROUGHLINE_AUTOSTART: '1',
    // Where the tests' nats-server is.
    XDG_CACHE_HOME: dirname(cacheDirOf(process.env, homedir())),
  };
  const port = await freePort('127.0.0.1');
  afterTest(() => cli(['down'], { env, cwd: tmpdir() }));
  const up = await cli(['up', '--detach', '--no-inspector', '--port', String(port)], { env, cwd: root });
  expect(up).toMatchObject({ code: 0 });
  expect((await cli(['down'], { env, cwd: tmpdir() })).stdout).toContain('throughline stopped');
  const hook = async (event: string, more: Readonly<Record<string, string>> = {}) => {
    const payload = payloadsOf('claude').find(({ hook_event_name: name }) => name === event);
    const input = JSON.stringify({ ...payload, cwd: folder });
    return cli(['hook', 'claude'], { env: { ...env, ...more }, cwd: folder, input });
  };
  return { root, folder, store, env, port, hook };
}

/** The processes of `up` and of its server. */
function running(store: string) {
  const use = storeUse(store);
  if (use?.by !== 'server') return undefined;
  return { up: use.starter.pid, server: use.server?.pid ?? 0, port: Number(new URL(use.url ?? '').port) };
}

const [STDIO] = MCP_WAYS;

describe('a server that does not run', () => {
  it('is started once by hooks that come at the same moment, and ended by down from anywhere', async () => {
    const { store, env, port, hook } = await user();
    const answers = await Promise.all([1, 2, 3].map(() => hook('SessionStart')));
    for (const { code, stderr } of answers) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await soon(() => expect(running(store)).toMatchObject({ port }));
    // It knows what is told to it from now on.
    await hook('Stop');
    expect((await cli(['down'], { env, cwd: tmpdir() })).stdout).toContain(`127.0.0.1:${port}`);
    expect(running(store)).toBeUndefined();
  });

  it.each(['a command', 'the MCP server'])('is started by %s', async (who) => {
    const { folder, store, env, port } = await user();
    if (who === 'a command') {
      const status = await cli(['status'], { env, cwd: folder });
      expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining('services: ') });
      expect(status.stderr).toContain('starting one in the background; "throughline down" stops it');
    } else {
      await using agent = await connectMcp(STDIO, { env, cwd: folder });
      const recall = () => agent.call('recall', { query: 'anything' });
      await soon(async () => expect(await recall()).toMatchObject({ isError: false }));
    }
    expect(running(store)).toMatchObject({ port });
  });

  it('is started on another port while another program has its own, and says so', async () => {
    const { root, folder, store, env, port } = await user();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    afterTest(async () => other.close());
    const status = await cli(['status'], { env, cwd: folder });
    expect(status.code).toBe(0);
    const at = running(store)?.port;
    expect(at).toBeGreaterThan(port);
    const line = `port ${port} is in use; your server is on port ${at}\n`;
    expect(status.stderr).toContain(`-- ${line}`);
    expect(await readFile(join(root, 'state', 'throughline', 'hook.log'), 'utf8')).toContain(`up: ${line}`);
    // Its own port is the one that it takes again.
    await cli(['down'], { env, cwd: tmpdir() });
    other.close();
    const again = await cli(['status'], { env, cwd: folder });
    expect(again).toMatchObject({ code: 0, stderr: expect.not.stringContaining('is in use') });
    expect(running(store)).toMatchObject({ port });
  });

  it('gets the settings of its user, and none that a repository has given to a hook', async () => {
    const { root, folder, store, hook } = await user();
    const planted = {
      THROUGHLINE_TASKS_ROOTS: folder,
      THROUGHLINE_REDACT: 'off',
      THROUGHLINE_SESSION: 'theirs',
      NODE_NO_WARNINGS: '1',
    };
    await hook('SessionStart', planted);
    const up = await soon(async () => {
      const pid = storeUse(store)?.starter.pid;
      expect(pid).toBeDefined();
      return pid;
    });
    const environment = (await readFile(`/proc/${up}/environ`, 'utf8')).split('\0');
    expect(
      environment.filter((line) => Object.keys(planted).some((name) => line.startsWith(`${name}=`))),
    ).toEqual([]);
    expect(environment).toContain('THROUGHLINE_LOG_LEVEL=error');
    expect(await readlink(`/proc/${up}/cwd`)).toBe(root);
  });

  it('stays off with THROUGHLINE_AUTOSTART=0, and where a server is named; the agent is told in one line', async () => {
    const { folder, store, env, hook } = await user();
    const nowhere = `nats://127.0.0.1:${await freePort('127.0.0.1')}`;
    const off: readonly Readonly<Record<string, string>>[] = [
      { THROUGHLINE_AUTOSTART: '0' },
      { NATS_URL: nowhere },
    ];
    for (const more of off) {
      const { stdout } = await hook('SessionStart', more);
      expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toMatch(
        /^Throughline: memory not reachable: [^\n]*(?:does not run|answers at nats:)[^\n]*$/,
      );
      expect((await hook('UserPromptSubmit', more)).stdout).toBe('');
      expect((await cli(['status'], { env: { ...env, ...more }, cwd: folder })).code).toBe(1);
    }
    expect((await cli(['status', '--nats', nowhere], { env, cwd: folder })).code).toBe(1);
    expect(running(store)).toBeUndefined();
    // What was said waits for the next hook.
    const waiting = spoolCounts(join(store, '..')).map(({ installation }) => installation);
    expect(waiting).toEqual([`named:${nowhere.replace('nats://', '')}`, expect.stringMatching(/^own:/)]);
  });

  it('is started again after a kill of its up, whose server is ended', async () => {
    const { store, env, folder, port } = await user();
    await cli(['status'], { env, cwd: folder });
    const before = running(store);
    expect(before).toMatchObject({ port });
    process.kill(before?.up ?? 0, 'SIGKILL');
    await soon(() => expect(storeUse(store)?.by).toBe('orphan'));
    expect(await cli(['status'], { env, cwd: folder })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('services: '),
    });
    expect(running(store)).toMatchObject({ port });
    expect(isRunning({ pid: before?.server ?? 0 })).toBe(false);
  });

  it('is started at once after a start that ended, whether that failed or its server was stopped', async () => {
    const { store, env, folder, port } = await user();
    const file = join(store, 'throughline-up.json');
    const recorded = await readFile(file, 'utf8');
    await writeFile(file, JSON.stringify({ args: ['--no-such-option'], env: {}, cwd: store }));
    const failed = await cli(['status'], { env, cwd: folder });
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('--no-such-option') });
    await writeFile(file, recorded);
    for (const round of [1, 2]) {
      expect(await cli(['status'], { env, cwd: folder }), `round ${round}`).toMatchObject({ code: 0 });
      expect(running(store)).toMatchObject({ port });
      await cli(['down'], { env, cwd: tmpdir() });
    }
  });

  it('is not started again while it runs and does not answer: the message names its process', async () => {
    const { store, env, folder } = await user();
    await cli(['status'], { env, cwd: folder });
    const { server = 0, up } = running(store) ?? {};
    process.kill(server, 'SIGSTOP');
    afterTest(async () => process.kill(server, 'SIGCONT'));
    for (const command of [['status'], ['up', '--detach']]) {
      const { code, stdout, stderr } = await cli(command, { env, cwd: folder });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(
        `the server, process ${server}, does not answer: end it with "throughline down"`,
      );
    }
    expect(running(store)).toMatchObject({ up, server });
  });
});

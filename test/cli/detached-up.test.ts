import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { lineForPeople, stopDetached } from '../../src/cli/detached-up.js';
import { connectThroughline } from '../../src/index.js';
import { isRunning } from '../../src/nats/server/process-identity.js';
import { storeUse } from '../../src/nats/server/server-store.js';
import { TOKEN_HEADER } from '../../src/shared/wire-words.js';
import { cli, startCli } from '../support/cli.js';
import { freePort } from '../support/free-port.js';
import { soon } from '../support/soon.js';

const stores: string[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) {
    await cli(['down', '--store', store]);
    await rm(store, { recursive: true, force: true, maxRetries: 5 });
  }
});

async function newStore(): Promise<string> {
  const store = await mkdtemp(join(tmpdir(), 'throughline-detached-'));
  stores.push(store);
  return store;
}

const detach = async (store: string, port?: number, ...more: string[]) =>
  cli(['up', '--detach', '--store', store, '--port', String(port ?? (await freePort('127.0.0.1'))), ...more]);

/** Where the inspector is, as the second line says. */
function inspectorIn(stdout: string): string {
  const [, url = ''] =
    /^throughline ready .*\ninspector (http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32})$/m.exec(stdout) ?? [];
  return url;
}

/** Process numbers of server and `up`. */
async function processesOn(store: string): Promise<number[]> {
  const use = storeUse(store);
  return use?.by === 'server' ? [use.starter.pid, use.server?.pid ?? 0] : [];
}

it('a start that failed shows the messages of its log, and no JSON', () => {
  const line = (level: string) => JSON.stringify({ level, time: 'now', code: 'x', msg: 'no "room"' });
  expect(['plain', line('info'), line('warn')].flatMap(lineForPeople)).toEqual(['plain', 'no "room"']);
});

describe('up --detach', () => {
  it('the token of the inspector survives a restart, until open --new-token forgets it', async () => {
    const store = await newStore();
    const tokens: string[] = [];
    for (const step of ['first', 'again', 'new']) {
      if (step === 'new') await cli(['open', '--store', store, '--new-token']);
      tokens.push(new URL(inspectorIn((await detach(store)).stdout)).searchParams.get('token') ?? '');
      expect((await stat(join(store, 'inspector-token'))).mode & 0o777).toBe(0o600);
      expect((await cli(['down', '--store', store])).code).toBe(0);
    }
    const [first, again, fresh] = tokens;
    expect(again).toBe(first);
    expect(fresh).not.toBe(first);
  });

  it('it returns when the services answer, a second call finds it, and down ends it and its server', async () => {
    const store = await newStore();
    const first = await detach(store);
    // The words that end this one: without its store they would look for another.
    const ends = `"throughline down --store ${store}" ends it`;
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(ends) });
    const [, url = ''] = /^throughline ready (\S+) store /.exec(first.stdout) ?? [];
    const used = await cli(['publish', 'implementer', '-s', 'demo', '--wait'], {
      env: { NATS_URL: url },
      input: '{"task_id":"1","status":"completed","summary":"done"}',
    });
    expect(used.code).toBe(0);
    const processes = await processesOn(store);
    expect(processes).toHaveLength(2);
    const inspector = inspectorIn(first.stdout);
    expect((await fetch(inspector)).status).toBe(200);
    const note = join(store, 'throughline-server.pid');
    expect((await stat(note)).mode & 0o777).toBe(0o600);

    const second = await detach(store);
    expect(second).toEqual({
      code: 0,
      stdout: first.stdout,
      stderr: expect.stringMatching(
        `^-- it keeps its port: "throughline down --store ${store}" ends it, .*\n-- already running on \\d+, process ${processes[0]}\n$`,
      ),
    });
    expect(await processesOn(store)).toEqual(processes);
    const down = await cli(['down', '--store', store, '--json']);
    expect(JSON.parse(down.stdout)).toEqual({ stopped: true, url, store });
    expect(processes.filter((pid) => isRunning({ pid }))).toEqual([]);
    await expect(stat(note)).rejects.toThrow('ENOENT');
    await expect(fetch(inspector)).rejects.toThrow();
    const again = await cli(['down', '--store', store]);
    expect(again).toMatchObject({ code: 0, stdout: `nothing runs on the store ${store}\n` });
  });

  it('of several calls at the same moment all find the same server, with its services', async () => {
    const store = await newStore();
    const port = await freePort('127.0.0.1');
    const calls = await Promise.all(Array.from({ length: 3 }, () => detach(store, port)));
    expect(new Set(calls.map(({ code, stdout }) => `${code} ${stdout}`))).toEqual(
      new Set([
        `0 throughline ready nats://127.0.0.1:${port} store ${store}\ninspector ${inspectorIn(calls[0]?.stdout ?? '')}\n`,
      ]),
    );
    expect(await processesOn(store)).toHaveLength(2);
    const health = await cli(['admin', 'health'], { env: { NATS_URL: `nats://127.0.0.1:${port}` } });
    expect(health.code).toBe(0);
  });

  it('it finds an up that runs in a terminal, which down ends as well', async () => {
    const store = await newStore();
    const port = String(await freePort('127.0.0.1'));
    await using up = await startCli(['up', '--store', store, '--port', port, '--no-inspector']);
    const found = await detach(store);
    expect(found.stderr).toContain(`already running on ${port}, process ${up.pid}`);
    expect(found.stdout + up.stdout()).not.toContain('inspector');
    expect((await cli(['down', '--store', store])).code).toBe(0);
    expect(await up.exited).toEqual({ code: 0, signal: null });
  });

  it('serve gives an inspector a process of its own, which only reads unless it is told otherwise', async () => {
    const store = await newStore();
    const port = await freePort('127.0.0.1');
    await detach(store, port);
    const env = {
      NATS_URL: `nats://127.0.0.1:${port}`,
      THROUGHLINE_INSPECTOR_TOKEN: 'a-token-for-this-test',
    };
    const args = ['admin', 'serve', '--only', 'inspector', '--inspector-port', '0'];
    for (const [role, more] of [
      ['reader', []],
      ['operator', ['--inspector-role', 'operator']],
    ] as const) {
      await using serving = await startCli([...args, ...more], env);
      expect(serving.readyLine).toBe(`throughline ready ${env.NATS_URL} inspector`);
      const [, origin, inspector] = await soon(() => {
        const line = /^inspector (http:\/\/127\.0\.0\.1:(\d+))\/\?token=a-token-for-this-test$/m.exec(
          serving.stdout(),
        );
        expect(line).not.toBeNull();
        return line ?? [];
      });
      const headers = { [TOKEN_HEADER]: 'a-token-for-this-test' };
      const me = await fetch(`${origin}/api/me`, { headers });
      expect(await me.json()).toMatchObject({ decides: role === 'operator' });
      const taken = await cli(
        ['admin', 'serve', '--only', 'inspector', '--inspector-port', String(inspector)],
        {
          env,
        },
      );
      expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining('--inspector-port') });
    }
  });

  it('all projects of a user have one server, with or without --detach, which leaves no folder in them', async () => {
    const [state, one, other] = [await newStore(), await newStore(), await newStore()];
    const at = (cwd: string) => ({ cwd, env: { XDG_STATE_HOME: state } });
    const store = join(state, 'throughline', 'server');
    const up = (cwd: string, ...more: string[]) => cli(['up', '--no-inspector', ...more], at(cwd));
    try {
      const port = await freePort('127.0.0.1');
      const first = await up(one, '--detach', '--port', String(port));
      expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining(`store ${store}\n`) });
      const told = expect.stringMatching(/^-- already running on \d+, process \d+: this project uses it\n$/);
      const found = { code: 0, stdout: first.stdout, stderr: told };
      expect(await up(other, '--detach')).toEqual(found);
      expect(await up(other)).toEqual(found);
      expect((await cli(['admin', 'health'], at(other))).code).toBe(0);
      expect([await readdir(one), await readdir(other)]).toEqual([[], []]);
      expect((await stat(store)).mode & 0o777).toBe(0o700);
      const down = await cli(['down'], at(other));
      expect(down.stdout).toBe(`throughline stopped nats://127.0.0.1:${port} store ${store}\n`);
      expect((await cli(['down'], at(one))).stdout).toBe(`nothing runs on the store ${store}\n`);
    } finally {
      await cli(['down'], at(one));
    }
  });

  it('with --auth the server asks for a token that commands find and others do not', async () => {
    const state = await newStore();
    const env = { XDG_STATE_HOME: state };
    const port = await freePort('127.0.0.1');
    const url = `nats://127.0.0.1:${port}`;
    const up = (...more: string[]) => cli(['up', '--detach', '--no-inspector', ...more], { env });
    try {
      const ready = `throughline ready ${url} store ${join(state, 'throughline', 'server')}\n`;
      expect(await up('--port', String(port), '--auth')).toMatchObject({ code: 0, stdout: ready });
      expect((await cli(['admin', 'health'], { env })).code).toBe(0);
      expect(await cli(['admin', 'health'], { env: { ...env, NATS_URL: url } })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('auth_failed'),
      });
      const file = join(state, 'throughline', 'server', 'throughline-token');
      // The line that it prints for a shell serves programs too.
      vi.stubEnv('NATS_URL', url);
      vi.stubEnv('NATS_TOKEN', (await readFile(file, 'utf8')).trim());
      const client = await connectThroughline();
      expect((await client.tools.sessionList()).sessions).toEqual([]);
      await client.close();
      vi.unstubAllEnvs();
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await up('--no-auth')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('with a token: run "throughline down" first'),
      });

      const warned = async () => JSON.stringify((await cli(['doctor', '--json'], { env })).stdout);
      expect(await warned()).not.toContain('asks for no credentials');

      // It stays protected until it is told otherwise.
      await cli(['down'], { env });
      expect((await up('--port', String(port))).stdout).toBe(ready);
      expect((await cli(['admin', 'health'], { env: { ...env, NATS_URL: url } })).stderr).toContain(
        'auth_failed',
      );
      await cli(['down'], { env });
      expect((await up('--port', String(port), '--no-auth')).stdout).toBe(ready);
      expect((await cli(['admin', 'health'], { env: { ...env, NATS_URL: url } })).code).toBe(0);
      expect(await warned()).toContain('asks for no credentials');
    } finally {
      await cli(['down'], { env });
    }
  });

  it('down names the command that kills an up that does not end, and then ends the server that it has left', async () => {
    const store = await newStore();
    await detach(store);
    const [up = 0, server = 0] = await processesOn(store);
    process.kill(up, 'SIGSTOP');
    await expect(stopDetached(store, 100, 0)).rejects.toMatchObject({
      message: expect.stringContaining(`or end it with "kill -9 ${up}", then run "throughline down" again`),
    });
    process.kill(up, 'SIGKILL');
    await soon(() => expect(isRunning({ pid: up })).toBe(false));
    expect((await cli(['down', '--store', store])).stdout).toMatch(/^throughline stopped/);
    expect(isRunning({ pid: server })).toBe(false);
  });

  it('what goes wrong is told, and nothing stays behind', async () => {
    const store = await newStore();
    const taken = await newStore();
    const port = await freePort('127.0.0.1');
    await detach(taken, port);
    const failed = await detach(store, port);
    // As `up` itself says it.
    const why = `port ${port} on 127.0.0.1 is in use: choose another with --port, or stop what listens there`;
    expect(failed).toMatchObject({ code: 2, stderr: `throughline: ${why} (config_invalid)\n` });
    expect(storeUse(store)).toBeUndefined();
    const given = await cli(['up', '--detach', '--store', store], {
      env: { NATS_URL: 'nats://127.0.0.1:1' },
    });
    expect(given).toMatchObject({ code: 2, stderr: expect.stringContaining('unset NATS_URL') });
  });
});

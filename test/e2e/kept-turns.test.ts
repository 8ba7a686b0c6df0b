import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOOK_CLIENTS } from '../../src/agents/hooks/hook-table.js';
import { runHook } from '../../src/agents/hooks/run-hook.js';
import { type SpoolCount, spoolCounts, spoolOf } from '../../src/agents/hooks/spool.js';
import { loadConfig } from '../../src/config/config.js';
import { installationKey, serverInUse, userStore } from '../../src/config/user-server.js';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { connectThroughline } from '../../src/index.js';
import { storeUse, TOKEN_FILE, tokenOf } from '../../src/nats/server/server-store.js';
import { cacheDirOf } from '../../src/nats/server/server-version.js';
import { cli, cliProcess } from '../support/cli.js';
import { freePort } from '../support/free-port.js';
import { connectMcp, MCP_WAYS } from '../support/mcp-clients.js';
import { afterTest, folderOfTest } from '../support/of-file.js';
import { soon } from '../support/soon.js';

/** Turns and results that come while the server of their user does not run. */

const [STDIO] = MCP_WAYS;
const TURN = { session_id: 's1', prompt_id: 'p1' };
const START = { ...TURN, hook_event_name: 'SessionStart', source: 'startup' };
const STOP = {
  ...TURN,
  hook_event_name: 'Stop',
  stop_hook_active: false,
  last_assistant_message: 'Decided: sqlite keeps the orders.',
};

async function user() {
  const root = await folderOfTest();
  const [folder, state] = [join(root, 'shop'), join(root, 'state', 'throughline')];
  await mkdir(folder);
  const env = {
    HOME: root,
    XDG_STATE_HOME: join(root, 'state'),
    THROUGHLINE_SESSION: 'shop',
    // Where the tests' nats-server is.
    XDG_CACHE_HOME: dirname(cacheDirOf(process.env, homedir())),
  };
  afterTest(() => cli(['down'], { env, cwd: tmpdir() }));
  return {
    folder,
    env,
    state,
    run: (...args: string[]) => cli(args, { env, cwd: folder }),
    status: async () =>
      (await cli(['status'], { env: { ...env, THROUGHLINE_SESSION: '' }, cwd: folder })).stdout,
    hook: (payload: object, within = '20000', more: Readonly<Record<string, string>> = {}) =>
      cliProcess(['hook', 'claude', '--within', within], {
        env: { ...env, ...more },
        cwd: folder,
        input: JSON.stringify({ ...payload, cwd: folder }),
      }),
    async up(...more: string[]) {
      const args = ['up', '--detach', '--no-inspector', '--port', String(await freePort('127.0.0.1'))];
      expect(await cli([...args, ...more], { env, cwd: root })).toMatchObject({ code: 0 });
    },
    counts: (): SpoolCount[] => spoolCounts(state),
    /** Has the next start in the background take some seconds. */
    async startsSlowly() {
      const { stdout } = await cli(['admin', 'nats-server'], { env, cwd: folder });
      const slow = join(root, 'slow-server');
      await writeFile(slow, `#!/bin/sh\nsleep 1\nexec ${stdout.trim()} "$@"\n`, { mode: 0o755 });
      const file = join(userStore(state), 'throughline-up.json');
      const settings = JSON.parse(await readFile(file, 'utf8'));
      const given = { ...settings, env: { ...settings.env, NATS_SERVER_BIN: slow } };
      await writeFile(file, JSON.stringify(given));
    },
    /** Waits until the decision of the turn counts once. */
    decided: () =>
      soon(async () => {
        const { stdout } = await cli(['facts', 'shop', '--relation', 'decided'], { env, cwd: folder });
        expect(stdout.match(/sqlite keeps the orders/gi)).toHaveLength(1);
      }),
  };
}

const TURNS = 200;
const OWN = expect.stringMatching(/^own:/);

describe('a turn that ends while the server does not run', () => {
  it('the turn is sent to the server that comes back with a token and on another port', async () => {
    const { up, run, status, hook, counts, decided } = await user();
    await up();
    await run('down');
    await hook(STOP);
    expect(counts()).toEqual([{ installation: OWN, waiting: 1, unreadable: 0 }]);
    await up('--auth');
    expect(await status()).toContain('kept by hooks: 1 item to send');
    expect((await run('facts', '--all')).stderr).toContain('kept by hooks: 1 item to send');
    expect((await run('doctor')).stdout).toContain('kept by hooks: 1 item to send');
    expect((await run('result', 'unsent')).stderr).toMatch(
      /"throughline result unsent --send own:\w+" sends them now/,
    );
    await hook(START);
    await decided();
    expect(counts()).toEqual([]);
  });

  it('the turn keeps its time, however much later it is sent', async () => {
    const { up, run, hook, state, decided } = await user();
    await hook(STOP);
    const [file = ''] = (await readdir(join(state, 'hooks', 'spool'), { recursive: true })).filter((name) =>
      name.endsWith('.json'),
    );
    const path = join(state, 'hooks', 'spool', file);
    const kept = JSON.parse(await readFile(path, 'utf8'));
    expect(Date.now() - Date.parse(kept.at)).toBeLessThan(60_000);
    await writeFile(path, JSON.stringify({ ...kept, at: '2026-03-02T08:00:00.000Z' }));
    await up();
    await hook(START);
    await decided();
    const { stdout } = await run('facts', '--relation', 'decided', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ at: '2026-03-02T08:00:00.000Z' }]);
  });

  it.each([
    // About as long as the start of a process: it gives up before it has read its event, or finds no server.
    ['that has hardly any time', '50', {}, /gave up|does not run/],
    ['with a wrong setting', '20000', { THROUGHLINE_REPLICAS: 'two' }, /THROUGHLINE_REPLICAS is "two"/],
  ])('a hook %s keeps the event, and it counts once', async (_, within, setting, reason) => {
    const { up, hook, state, counts, decided } = await user();
    expect(await hook(STOP, within, setting)).toMatchObject({ code: 0, stdout: '' });
    expect(await readFile(join(state, 'hook.log'), 'utf8')).toMatch(reason);
    expect(counts()).toEqual([{ installation: OWN, waiting: 1, unreadable: 0 }]);
    await up();
    await hook(START);
    await hook(START);
    await decided();
    expect(counts()).toEqual([]);
  });

  it('a turn whose hook had no time is sent soon, without another hook', async () => {
    const { up, hook, counts, decided } = await user();
    await up();
    await hook(STOP, '50');
    await decided();
    await soon(() => expect(counts()).toEqual([]));
  });

  it('200 turns for a server of others are sent once and in order when it is back at another address with a key', async () => {
    const bob = await user();
    const ann = await user();
    const away = async (natsUrl: string, payload: object) =>
      (await ann.hook(payload, '20000', { NATS_URL: natsUrl })).stdout;
    const addressOf = () => {
      const own = serverInUse(bob.state);
      return own.kind === 'own' ? `${own.running?.url}` : '';
    };
    await bob.up();
    const before = addressOf();
    await away(before, { ...START, session_id: 'first' });
    await bob.run('down');
    expect(await away(before, START)).toMatch(/as of \d\d:\d\d, the server does not answer/);
    const server = serverInUse(ann.state, { natsUrl: before });
    const place = {
      config: loadConfig(ann.env),
      stateDir: ann.state,
      spool: spoolOf(ann.state, installationKey(server)),
      directory: ann.folder,
      log() {},
      leftMs: () => 20_000,
      onLate() {},
      awaitTranscript() {},
      onRecorded() {},
      connect: () => Promise.reject(new ThroughlineError('unavailable', 'away')),
      person: () => 'ann',
    };
    for (let turn = 0; turn < TURNS; turn += 1) {
      const said = {
        ...STOP,
        prompt_id: `t${turn}`,
        last_assistant_message: `Decided: item ${turn} is blue.`,
      };
      await runHook('claude', HOOK_CLIENTS.claude, JSON.stringify(said), place);
    }
    await bob.up('--auth');
    const after = addressOf().replace('://', `://${tokenOf(userStore(bob.state), TOKEN_FILE)}@`);
    expect(new URL(after).port).not.toBe(new URL(before).port);
    await soon(async () => {
      await away(after, { ...START, session_id: 'again' });
      expect(ann.counts()).toEqual([]);
    });
    await using client = await connectThroughline({ url: after });
    await soon(async () => {
      const { events } = await client.send('tool.session-export', { session: 'shop' });
      const sent = events
        .map(({ event }) => JSON.stringify(event))
        .flatMap((text) => [/"sequence":(\d+).*item (\d+) is blue/.exec(text) ?? []].filter(([all]) => all))
        .toSorted(([, a], [, b]) => Number(a) - Number(b))
        .map(([, , turn]) => Number(turn));
      expect(sent).toEqual(Array.from({ length: TURNS }, (_, turn) => turn));
    });
  });

  it('what waits for an installation that is gone is sent to the one in use, or deleted', async () => {
    const { up, run, status, env, folder, hook, counts, decided } = await user();
    const gone = `127.0.0.1:${await freePort('127.0.0.1')}`;
    const away = { env: { ...env, NATS_URL: `nats://${gone}` }, cwd: folder };
    const input = JSON.stringify({ ...STOP, cwd: folder });
    await cliProcess(['hook', 'claude', '--within', '20000'], { ...away, input });
    await up();
    await hook(START);
    const { stdout } = await run('result', 'unsent');
    expect(stdout).toBe(`named:${gone}  1 item to send\n`);
    expect(await status()).toContain(`kept by hooks: 1 item to send for named:${gone}`);
    expect(await run('result', 'unsent', '--send', 'named:other:1')).toMatchObject({ code: 2 });
    const both = ['--send', `named:${gone}`, '--rm', `named:${gone}`];
    expect((await run('result', 'unsent', ...both)).stderr).toContain('--send and --rm: give one of them');
    const sent = await run('result', 'unsent', '--send', `named:${gone}`);
    expect(sent).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('-- 1 item sent\n') });
    await decided();
    await cliProcess(['hook', 'claude', '--within', '20000'], { ...away, input });
    expect(await run('result', 'unsent', '--rm', `named:${gone}`)).toMatchObject({ code: 0, stdout: '' });
    expect(counts()).toEqual([]);
  });
});

describe('an MCP server whose NATS server goes down', () => {
  const report = { task_id: '1', status: 'completed', summary: 'Sqlite keeps the orders.' };

  it('a call fails at once, a result is kept, and both work when the server is back on another port', async () => {
    const { up, run, env, folder, counts } = await user();
    await up();
    await using agent = await connectMcp(STDIO, { env, cwd: folder });
    const recall = () => agent.call('recall', { query: 'sqlite' });
    expect(await recall()).toMatchObject({ isError: false });
    await run('down');
    const before = performance.now();
    expect(await recall()).toMatchObject({ isError: true, text: expect.stringContaining('(unavailable)') });
    expect(performance.now() - before).toBeLessThan(1000);
    const kept = await agent.call('report', report);
    expect(kept).toMatchObject({ isError: false, data: { status: 'kept' } });
    expect(kept.text).toContain('do not report it again');
    expect(counts()).toEqual([{ installation: OWN, waiting: 1, unreadable: 0 }]);
    await up('--auth');
    expect(await recall()).toMatchObject({ isError: false });
    expect(counts()).toEqual([]);
    await soon(async () => expect((await recall()).text).toContain('Sqlite keeps the orders'));
  });

  it('a call to a server that hangs says so, and is answered once it goes on', async () => {
    const { up, env, folder, state, counts } = await user();
    await up();
    await using agent = await connectMcp(STDIO, { env, cwd: folder });
    const recall = () => agent.call('recall', { query: 'sqlite' });
    expect(await recall()).toMatchObject({ isError: false });
    const server = serverInUse(state);
    const pid = (server.kind === 'own' && server.running?.pid) || 0;
    process.kill(pid, 'SIGSTOP');
    const text = expect.stringContaining(`the server, process ${pid}, does not answer`);
    // Both answers come while the server stands still.
    const [recalled, reported] = await Promise.all([recall(), agent.call('report', report)]);
    process.kill(pid, 'SIGCONT');
    expect(recalled).toMatchObject({ isError: true, text });
    expect(reported).toMatchObject({ isError: false, data: { status: 'kept' } });
    expect(await recall()).toMatchObject({ isError: false });
    expect(counts()).toEqual([]);
  });

  it('a call that finds the server gone is answered at once and starts it, and what was reported meanwhile is sent', async () => {
    const { up, run, env, folder, counts, startsSlowly } = await user();
    await up();
    const own = { ...env, THROUGHLINE_AUTOSTART: '1' };
    await using agent = await connectMcp(STDIO, { env: own, cwd: folder });
    const recall = () => agent.call('recall', { query: 'sqlite' });
    expect(await recall()).toMatchObject({ isError: false });
    await run('down');
    await startsSlowly();
    const before = performance.now();
    const [recalled, reported] = await Promise.all([recall(), agent.call('report', report)]);
    expect(performance.now() - before).toBeLessThan(1000);
    expect(recalled).toMatchObject({ isError: true, text: expect.stringContaining('is being started') });
    expect(reported).toMatchObject({ isError: false, data: { status: 'kept' } });
    // Without another call.
    await soon(() => expect(counts()).toEqual([]));
    await soon(async () => expect((await recall()).text).toContain('Sqlite keeps the orders'));
  });

  it('a server whose up was killed is started again, though the connection to it still stands', async () => {
    const { up, env, folder, state } = await user();
    await up();
    const own = { ...env, THROUGHLINE_AUTOSTART: '1' };
    await using agent = await connectMcp(STDIO, { env: own, cwd: folder });
    const recall = () => agent.call('recall', { query: 'sqlite' });
    expect(await recall()).toMatchObject({ isError: false });
    const { starter } = storeUse(userStore(state)) ?? {};
    process.kill(starter?.pid ?? 0, 'SIGKILL');
    await soon(() => expect(storeUse(userStore(state))?.by).toBe('orphan'));
    await soon(async () => expect(await recall()).toMatchObject({ isError: false }));
    expect(storeUse(userStore(state))).toMatchObject({ by: 'server' });
  });
});

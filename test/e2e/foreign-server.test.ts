import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { COMMANDS } from '../../src/cli/command-table.js';
import { openInBrowser } from '../../src/cli/open-command.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { connectNats } from '../../src/nats/connection/connect-nats.js';
import { identityOf } from '../../src/nats/server/process-identity.js';
import { serverOnStore, storeUse } from '../../src/nats/server/server-store.js';
import { cacheDirOf } from '../../src/nats/server/server-version.js';
import { CLIENT_NAMES, payloadsOf } from '../agents/hooks/hooks.js';
import { cli } from '../support/cli.js';
import { connectMcp, MCP_WAYS } from '../support/mcp-clients.js';
import { afterTest, folderOfTest } from '../support/of-file.js';
import { runNode } from '../support/run-node.js';
import { soon } from '../support/soon.js';

/** Another account of this machine listens where the user's own server might be. */

const USUAL_PORT = 4222;
const STRANGER = 65_534;
const NOT_ROOT = process.getuid?.() === 0 ? undefined : 'a second user needs root';
const SECRET = 'The vault opens with the red key';

/** Greets as a Throughline server of another user, and records what it is sent. */
const PROGRAM = `
  const info = { server_id: 'X', server_name: 'throughline-stranger', version: '2.15.0', proto: 1, headers: true, max_payload: 1048576, jetstream: true, ...JSON.parse(process.argv[2]) };
  const listening = require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => process.stdout.write(bytes));
    socket.write('INFO ' + JSON.stringify(info) + '\\r\\n');
  });
  listening.on('error', (error) => { process.stderr.write(error.code); process.exit(1); });
  listening.listen(Number(process.argv[1]), '127.0.0.1', () => process.stderr.write('ready'));
`;

async function stranger(port: number, info: object = {}) {
  const child = spawn(process.execPath, ['--eval', PROGRAM, String(port), JSON.stringify(info)], {
    uid: STRANGER,
    gid: STRANGER,
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'] as const,
  });
  afterTest(async () => child.kill('SIGKILL'));
  let received = '';
  child.stdout.on('data', (bytes: Buffer) => {
    received += bytes.toString('utf8');
  });
  const [said] = await once(child.stderr, 'data');
  return { said: String(said), received: () => received };
}

/** Prints each file below a folder that it can read and that holds one of the texts: of processes, arguments and environment. */
const READER = `
  const { readdirSync, readFileSync } = require('node:fs');
  const [folder, ...sought] = process.argv.slice(1);
  const look = (path) => {
    let entries = [];
    try { entries = readdirSync(path, { withFileTypes: true }); } catch {}
    for (const entry of entries) {
      const below = path + '/' + entry.name;
      if (folder === '/proc') { if (/^[0-9]+$/.test(entry.name)) for (const name of ['cmdline', 'environ']) read(below + '/' + name); }
      else if (entry.isDirectory()) look(below);
      else if (entry.isFile()) read(below);
    }
  };
  const own = '/proc/' + process.pid + '/';
  const read = (path) => {
    try { if (!path.startsWith(own) && sought.some((text) => readFileSync(path).includes(text))) console.log(path); } catch {}
  };
  look(folder);
`;

async function seenByStranger(folder: string, sought: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, ['--eval', READER, folder, ...sought], {
    uid: STRANGER,
    gid: STRANGER,
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'] as const,
  });
  return (await text(child.stdout)).split('\n').filter((path) => path !== '');
}

/** A stranger on the usual port, which the tests of another file may have for a moment. */
async function strangerOnUsualPort() {
  let found = await stranger(USUAL_PORT);
  await soon(async () => {
    if (found.said !== 'ready') found = await stranger(USUAL_PORT);
    expect(found.said).toBe('ready');
  });
  return found;
}

async function user() {
  const root = await folderOfTest();
  const [folder, state] = [join(root, 'shop'), join(root, 'state')];
  await mkdir(folder);
  await writeFile(join(folder, 'tasks.md'), '- [ ] 1. Write the parser\n');
  await writeFile(
    join(folder, 'result.json'),
    JSON.stringify({ task_id: '1', status: 'completed', summary: SECRET }),
  );
  const env = {
    HOME: root,
    XDG_STATE_HOME: state,
    THROUGHLINE_SESSION: 'victim',
    XDG_CACHE_HOME: dirname(cacheDirOf(process.env, homedir())),
  };
  afterTest(() => cli(['down'], { env, cwd: tmpdir() }));
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}, input = '') =>
    cli(args, { env: { ...env, ...more }, cwd: folder, input });
  return { root, folder, store: join(state, 'throughline', 'server'), env, run };
}

const RESULT = JSON.stringify({ task_id: '1', status: 'completed', summary: SECRET });

/** Arguments with which each command of the table would reach a server; `null` for one that needs none. */
const CALLS: Readonly<Record<string, readonly string[] | null>> = {
  demo: null,
  up: null,
  down: [],
  connect: ['claude', '--yes'],
  // Takes away what the test looks at.
  uninstall: null,
  pause: null,
  resume: null,
  doctor: [],
  team: null,
  open: [],
  publish: ['implementer'],
  prompt: ['-t', '2', '-p', SECRET],
  work: ['--implementer', 'true', '--check', 'true'],
  mcp: [],
  status: [],
  log: [],
  last: [],
  recall: [SECRET],
  facts: [],
  task: ['add', SECRET],
  note: ['add', SECRET],
  inbox: ['add', SECRET],
  answer: ['1', SECRET],
  restore: ['M1'],
  plan: ['follow', 'tasks.md'],
  session: ['rm', 'victim', '--yes'],
  learning: ['ls'],
  result: ['ls'],
  'admin serve': [],
  'admin health': [],
  'admin backup': ['backup'],
  'admin restore': ['.'],
  'admin retention': ['show'],
  'admin permissions': null,
  'admin nats-server': null,
  'admin completion': null,
  hook: null,
  tool: ['session-list'],
};

/** A call of each tool of the MCP server. */
const TOOLS = {
  context: { task: '1', prompt: SECRET },
  report: { task_id: '1', status: 'completed', summary: SECRET },
  task: { action: 'add', content: SECRET },
  note: { action: 'note', content: SECRET },
  recall: { query: SECRET },
};
const INDEX = new URL('../../dist/index.js', import.meta.url).href;

describe.skipIf(NOT_ROOT !== undefined)('a server of another account on the usual port', () => {
  it('no command and no hook sends it anything while the own server does not run', async () => {
    const other = await strangerOnUsualPort();
    const { run, folder, env } = await user();
    const off = { THROUGHLINE_AUTOSTART: '0' };
    const missed: string[] = [];
    for (const { name } of COMMANDS) {
      const args = CALLS[name];
      expect(args, `${name} needs arguments in this test`).not.toBeUndefined();
      if (args === null || args === undefined) continue;
      const { code, stdout, stderr } = await run([...name.split(' '), ...args], off, RESULT);
      const said = `${name}: ${code} ${stdout}${stderr}`;
      if (!/does not run|nothing runs/.test(said) && !['connect', 'mcp'].includes(name)) missed.push(said);
    }
    expect(missed).toEqual([]);
    await using agent = await connectMcp(MCP_WAYS[0], { env: { ...env, ...off }, cwd: folder });
    for (const [tool, args] of Object.entries(TOOLS))
      expect(await agent.call(tool, args), tool).toMatchObject({
        text: expect.stringContaining('does not run'),
      });
    const sdk = await runNode(
      `import { connectThroughline } from ${JSON.stringify(INDEX)};
       console.log((await connectThroughline().catch((error) => error)).message);`,
      env,
    );
    expect(sdk.stdout).toContain('does not run');
    for (const client of CLIENT_NAMES) {
      const events = payloadsOf(client).map((payload) => ({ ...payload, cwd: folder, prompt: SECRET }));
      await Promise.all(events.map((event) => run(['hook', client], off, JSON.stringify(event))));
    }
    expect(other.received()).toBe('');
  });

  it('another account reads no token, state, temporary file, environment or argument of the user', async () => {
    const { root, store, run, env } = await user();
    const temporary = join(root, 'tmp');
    await mkdir(temporary);
    await chmod(root, 0o755);
    await run(['up', '--detach', '--auth'], { TMPDIR: temporary });
    expect((await run(['publish', 'implementer', '--wait'], { TMPDIR: temporary }, RESULT)).code).toBe(0);
    const { url } = JSON.parse((await run(['open', '--json'])).stdout);
    // A browser that runs for as long as the other account looks.
    const browser = join(root, 'xdg-open');
    await writeFile(browser, '#!/bin/sh\nsleep 10\n', { mode: 0o755 });
    vi.stubEnv('PATH', `${root}:${process.env.PATH}`);
    openInBrowser(url, store);
    vi.unstubAllEnvs();
    const files = (await readdir(store)).map((name) => join(store, name));
    const tokens = await Promise.all(
      files.filter((path) => path.endsWith('token')).map((path) => readFile(path, 'utf8')),
    );
    expect(tokens.length).toBeGreaterThan(1);
    const sought = [...tokens.map((token) => token.trim()), SECRET];
    await soon(async () => expect(await seenByStranger('/proc', ['open-inspector.html'])).not.toEqual([]));
    expect(await seenByStranger('/proc', sought)).toEqual([]);
    const own = [env.XDG_STATE_HOME, temporary];
    for (const folder of own) expect(await seenByStranger(folder, sought), folder).toEqual([]);
    expect(await seenByStranger(root, [SECRET]), 'what lies open is found').toEqual([
      join(root, 'shop/result.json'),
    ]);
  });

  it('the own server is started on another port, and says so', async () => {
    const other = await strangerOnUsualPort();
    const { run, store } = await user();
    const up = await run(['up', '--detach', '--no-inspector', '--auth']);
    expect(up.code).toBe(0);
    expect(up.stderr).toMatch(/-- port 4222 is in use; your server is on port \d+\n/);
    expect(up.stderr).toMatch(/for the nats CLI: export NATS_URL=nats:\S+ NATS_TOKEN="\$\(cat /);
    expect((await run(['publish', 'implementer', '--wait'], {}, RESULT)).code).toBe(0);
    const status = await run(['status', 'victim']);
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining('victim') });
    expect(status.stderr).toMatch(/-- server: the server of \w+ at nats:\S+, process \d+\n/);
    const installation = await run(['status', '--json'], { THROUGHLINE_SESSION: '' });
    expect(JSON.parse(installation.stdout).server).toContain(` at ${serverOnStore(store)?.url}, process `);
    expect(other.received()).toBe('');
  });

  it('a connection that was open does not go on with a stranger on its port, and follows its server to another', async () => {
    const { run, store } = await user();
    await run(['up', '--detach', '--no-inspector', '--auth']);
    const { starter, server, url = '' } = storeUse(store) ?? {};
    const connection = await connectNats({ url: { store }, name: 'open', logger: silentLogger });
    afterTest(() => connection.close());
    for (const each of [starter, server]) process.kill(each?.pid ?? 0, 'SIGKILL');
    const port = Number(new URL(url).port);
    // It knows the name that the server greeted with.
    const other = await stranger(port, { server_name: connection.info?.server_name });
    expect(other.said).toBe('ready');
    await soon(() => expect(storeUse(store)).toBeUndefined());
    await expect(connectNats({ url: { store }, name: 'new', logger: silentLogger })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('does not run'),
    });
    // Also when the pid file names a process of ours that runs.
    const ours = identityOf(process.pid);
    await writeFile(
      join(store, 'throughline-server.pid'),
      JSON.stringify({ starter: ours, server: ours, url }),
    );
    expect(serverOnStore(store)).toBeUndefined();
    await rm(join(store, 'throughline-server.pid'));
    connection.publish('session.victim.x', SECRET);

    const again = await run(['up', '--detach', '--no-inspector', '--port', String(port + 1)]);
    expect(again.code).toBe(0);
    await soon(async () => {
      await connection.flush();
      expect(connection.getServer()).toBeDefined();
    });
    expect(other.received()).toBe('');
  });
});

it('a user who names it uses a server, from then on with team join, until team leave; an open MCP server follows', async () => {
  const { run, store, env, folder } = await user();
  const { run: runOther, store: theirs } = await user();
  await runOther(['up', '--detach', '--no-inspector', '--port', String(14_000 + (process.pid % 10_000))]);
  const url = serverOnStore(theirs)?.url ?? '';
  const mcpEnv = { ...env, THROUGHLINE_AUTOSTART: '0' };
  await using agent = await connectMcp(MCP_WAYS[0], { env: mcpEnv, cwd: folder });
  const noteToAgents = (content: string) => agent.call('note', { action: 'note', content });
  const absent = { isError: true, text: expect.stringContaining('does not run') };
  expect(await noteToAgents('Before')).toMatchObject(absent);
  const refused = await run(['team', 'join', 'nats://127.0.0.1:1']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('(unavailable)') });
  expect((await run(['team', 'join', url])).stdout).toBe(`throughline team joined ${url}\n`);
  expect((await run(['publish', 'implementer', '--wait'], {}, RESULT)).code).toBe(0);
  expect((await run(['status'], { THROUGHLINE_SESSION: '' })).stdout).toContain(
    `server: ${url.replace('nats://', '')}, named by "throughline team join"`,
  );
  expect((await runOther(['facts', 'victim'])).stdout).toContain(SECRET);
  expect(await noteToAgents('With the team')).toMatchObject({ isError: false });
  expect(await agent.call('task', { action: 'add', content: 'Write the parser' })).toMatchObject({
    isError: false,
  });
  expect(await agent.call('task', { action: 'claim', id: 'TAS-1' })).toMatchObject({ isError: false });
  expect((await runOther(['note', 'ls', '-s', 'victim'])).stdout).toContain('With the team');
  expect(await run(['up'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('throughline team leave'),
  });
  // `down` ends its own, never another.
  expect((await run(['down'])).stdout).toContain('nothing runs');
  expect(serverOnStore(theirs)).toBeDefined();
  expect((await run(['team', 'leave'])).stdout).toBe(`throughline team left ${url}\n`);
  expect((await run(['status'], { THROUGHLINE_AUTOSTART: '0' })).stderr).toContain('does not run');
  expect(await noteToAgents('After')).toMatchObject(absent);
  // What the agent had claimed there is for others again.
  await soon(async () =>
    expect((await runOther(['task', 'next', 'victim', '--claim', 'other'])).stdout).toContain('TAS-1'),
  );
  expect(serverOnStore(store)).toBeUndefined();
});

import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { spoolCounts, spoolOf } from '../../src/agents/hooks/spool.js';
import { installationKey, projectTeamDir, serverInUse } from '../../src/config/user-server.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { connectNats, onConnectionState } from '../../src/nats/connection/connect-nats.js';
import { serverOnStore } from '../../src/nats/server/server-store.js';
import { cacheDirOf } from '../../src/nats/server/server-version.js';
import { readInvitation } from '../../src/nats/server/team-members.js';
import { cli, cliProcess, startCli } from '../support/cli.js';
import { credentialsFolder, operatorMode } from '../support/credentials.js';
import { freePort } from '../support/free-port.js';
import { connectMcp, MCP_WAYS } from '../support/mcp-clients.js';
import { startPrivateNats } from '../support/nats-server.js';
import { afterTest, folderOfTest, ofFile } from '../support/of-file.js';
import { soon } from '../support/soon.js';

/** Bob shares his server by TLS; Ann has another home. */

const files = await ofFile(credentialsFolder());
const cert = await files.authority('server');
const key = cert.replace(/pem$/, 'key');
const other = await files.authority('other');

async function person() {
  const home = await folderOfTest();
  const env = {
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: dirname(cacheDirOf(process.env, homedir())),
    THROUGHLINE_SESSION: 'demo',
  };
  const state = join(env.XDG_STATE_HOME, 'throughline');
  const run = (args: readonly string[], input = '') => cli(args, { env, cwd: home, input });
  return { env, home, state, store: join(state, 'server'), run };
}

/** Bob, with a server that he shares. */
async function sharing(...how: string[]) {
  const bob = await person();
  afterTest(() => bob.run(['down']));
  const port = await freePort('127.0.0.1');
  const up = ['up', '--detach', '--no-inspector', '--port', String(port), '--listen', '127.0.0.1', ...how];
  expect(await bob.run(up)).toMatchObject({ code: 0 });
  return { ...bob, port };
}

async function begin({ env, home }: Awaited<ReturnType<typeof person>>) {
  const event = { hook_event_name: 'SessionStart', session_id: '1', source: 'startup', cwd: home };
  const options = { env, cwd: home, input: JSON.stringify(event) };
  return (await cliProcess(['hook', 'claude', '--within', '20000'], options)).stdout;
}

const TLS = ['--tls-cert', cert, '--tls-key', key];

/** The two lines of `team invite`. */
function invitationIn(stdout: string) {
  const [command = '', invitation = ''] = stdout.trim().split('\n');
  return { url: command.replace('throughline team join ', ''), invitation };
}

it('up listens on another address only with TLS, or with --no-tls', async () => {
  const { run } = await person();
  for (const args of [[], ['--tls-cert', cert], ['--no-auth', '--no-tls']])
    expect(await run(['up', '--detach', '--listen', '0.0.0.0', ...args])).toMatchObject({ code: 2 });
  const { stderr } = await run(['up', '--listen', '0.0.0.0']);
  expect(stderr).toMatch(/add --tls-cert FILE --tls-key FILE, or --no-tls/);
  expect(await run(['up', '--no-tls'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--listen'),
  });
});

it('an invited colleague reads and decides after one command, and the decision is in the start of a session', async () => {
  const bob = await sharing(...TLS);
  const ann = await person();
  await using agent = await connectMcp(MCP_WAYS[0], { env: bob.env, cwd: bob.home });
  const note = (content: string) => agent.call('note', { action: 'note', content });
  const following = startCli(['log', 'demo', '-f'], bob.env, bob.home);
  let isFollowing = false;
  void following.then(() => {
    isFollowing = true;
  });
  await soon(async () => {
    expect(await note(`Before ${performance.now()}`)).toMatchObject({ isError: false });
    expect(isFollowing).toBe(true);
  });
  await using follower = await following;
  const own = await connectNats({ url: { store: bob.store }, name: 'bob', logger: silentLogger });
  afterTest(() => own.close());
  const changes: number[] = [];
  onConnectionState(own, () => changes.push(performance.now()));
  const { url, invitation } = invitationIn((await bob.run(['team', 'invite', 'ann'])).stdout);
  expect(url).toBe(`tls://127.0.0.1:${bob.port}`);

  // Everyone is asked for a key from now on, and bob's own processes have theirs.
  expect(await note('After')).toMatchObject({ isError: false });
  await soon(() => expect(follower.stdout()).toContain('After'));
  await soon(() => expect(changes).toHaveLength(2));
  const [cut = 0, back = 0] = changes;
  expect(back - cut).toBeLessThan(1000);

  expect(await ann.run(['team', 'join', url.replace('tls:', 'nats:')], invitation)).toMatchObject({
    code: 0,
    stdout: `throughline team joined ${url} as ann\n`,
  });
  for (const name of await readdir(ann.state))
    expect((await stat(join(ann.state, name))).mode & 0o077).toBe(0);
  expect((await ann.run(['note', 'add', 'Decided: The parser is recursive'])).code).toBe(0);
  const { stdout } = await bob.run(['prompt', '--kind', 'session-start']);
  expect(stdout).toContain('The parser is recursive');
  expect((await ann.run(['doctor'])).stdout).toMatch(/^ok {4}server in use: the server of .*, as ann\n/);
  const members = JSON.parse((await bob.run(['team', 'members', '--json'])).stdout);
  expect(members).toEqual([{ name: 'ann', key: expect.stringMatching(/^U/), since: expect.any(String) }]);
  const [, seed = ''] = /(SU[A-Z2-7]{56})/.exec(await readFile(join(ann.state, 'team.nk'), 'utf8')) ?? [];
  for (const name of await readdir(bob.store))
    if (/throughline|\.conf$/.test(name))
      expect(await readFile(join(bob.store, name), 'utf8')).not.toContain(seed);

  // Ann may work, but not decide what becomes of a session.
  for (const args of [
    ['session', 'rm', 'demo', '--yes'],
    ['session', 'archive', 'demo', '--reason', 'x'],
    ['session', 'export', 'demo'],
    ['team', 'members'],
  ])
    expect(await ann.run(args)).toMatchObject({ code: expect.toSatisfy((code) => code !== 0) });
  expect((await bob.run(['team', 'owner', 'add', 'ann'])).stderr).toContain(
    'members are managed on this machine',
  );
  expect(await ann.run(['session', 'archive', 'demo', '--reason', 'x'])).toMatchObject({ code: 0 });

  // It starts as before, and knows its members.
  await bob.run(['down']);
  expect((await bob.run(['up', '--detach', '--no-inspector'])).stdout).toContain(`:${bob.port} `);
  expect(await ann.run(['status'])).toMatchObject({ code: 0 });
  expect(await bob.run(['up', '--detach', '--no-auth'])).toMatchObject({ code: 2 });
});

it('a revoked or replaced key ends within a second, and the errors of a join name the fix', async () => {
  const bob = await sharing(...TLS);
  const ann = await person();
  const first = invitationIn((await bob.run(['team', 'invite', 'ann', '--session', 'demo,api'])).stdout);
  const join_ = (args: readonly string[], input?: string) => ann.run(['team', 'join', ...args], input);
  expect(await join_([first.url])).toMatchObject({ stderr: expect.stringContaining('--ca FILE') });
  expect(await join_([first.url, '--ca', other])).toMatchObject({
    stderr: expect.stringContaining('tls_failed'),
  });
  expect(await join_([first.url, '--ca', cert])).toMatchObject({
    stderr: expect.stringContaining('invitation'),
  });
  expect(await join_([first.url], first.invitation.slice(0, -40))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('copy all of the line that begins with tli_'),
  });
  for (const text of ['tli_e30', 'nothing'])
    expect((await join_([first.url, '--ca', cert], text)).stderr).toContain('not a whole invitation');
  const shown = await join_([first.invitation]);
  expect(shown).toMatchObject({ code: 2, stderr: expect.stringContaining('paste it when asked') });
  expect(shown.stderr).not.toContain(first.invitation.slice(4, 40));
  expect(await bob.run(['team', 'invite', 'eve', '--ca', key])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('without a key'),
  });
  expect(await readdir(ann.state)).not.toContain('team');
  // What invite prints is two lines.
  expect(await join_([], `throughline team join ${first.url}\n${first.invitation}\n`)).toMatchObject({
    code: 0,
  });
  expect(await ann.run(['note', 'add', '-s', 'another', 'x'])).toMatchObject({
    stderr: expect.stringContaining('permission_denied'),
  });
  const { THROUGHLINE_SESSION: _, ...unnamed } = ann.env;
  expect(await cli(['status'], { env: unnamed, cwd: ann.home })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^server: .*, as ann\n$/),
    stderr: expect.stringContaining('your access is for some sessions only'),
  });
  expect((await cli(['facts'], { env: unnamed, cwd: ann.home })).stderr).toContain(
    'a user who is bound to sessions gives --session',
  );
  expect((await ann.run(['open', '--print'])).stderr).toContain('run "throughline open" there');
  const said = ['note', 'add', '-s', 'api', 'Decided: The parser is recursive'];
  expect(await cli(said, { env: ann.env, cwd: ann.home, terminal: true })).toMatchObject({ code: 0 });
  await writeFile(join(ann.home, 'tasks.md'), '- [ ] 1. Lexer\n');
  expect(await ann.run(['plan', 'follow', 'tasks.md'])).toMatchObject({ code: 0, stderr: '' });
  const following = startCli(['log', 'demo', '-f'], ann.env, ann.home);
  let isFollowing = false;
  void following.then(() => {
    isFollowing = true;
  });
  await soon(async () => {
    expect(await ann.run(['note', 'add', `Before ${performance.now()}`])).toMatchObject({ code: 0 });
    expect(isFollowing).toBe(true);
  });
  await using follower = await following;

  const joined = JSON.parse(await readFile(join(ann.state, 'team'), 'utf8'));
  const connection = await connectNats({ url: joined, name: 'ann', logger: silentLogger });
  afterTest(() => connection.close());
  const cut = new Promise<number>((resolve) => {
    onConnectionState(connection, (isConnected) => isConnected || resolve(performance.now()));
  });
  const revokedAt = performance.now();
  expect((await bob.run(['team', 'revoke', 'ann'])).stdout).toBe('throughline team revoked ann\n');
  expect((await cut) - revokedAt).toBeLessThan(1000);
  expect(await ann.run(['status'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/rejected the key of ann .*ask for a new invitation/),
  });

  // What she said stays, with her name.
  const start = await bob.run(['prompt', '--kind', 'session-start', '-s', 'api']);
  expect(start.stdout).toMatch(/The parser is recursive \[N1, ann, /);
  const lost = '-- the connection is lost: trying again\n';
  const isTold = (times: number) =>
    soon(() =>
      expect(
        follower.stderr().match(/-- .* rejected the key of ann .*ask for a new invitation/g),
      ).toHaveLength(times),
    );
  await isTold(1);

  const second = invitationIn((await bob.run(['team', 'invite', 'ann'])).stdout);
  expect(await join_([], first.invitation)).toMatchObject({ stderr: expect.stringContaining('auth_failed') });
  await join_([], second.invitation);
  await soon(() => expect(follower.stderr()).toContain('-- connected again'));
  const third = invitationIn((await bob.run(['team', 'rotate', 'ann'])).stdout);
  expect((await ann.run(['status'])).stderr).toContain('auth_failed');
  // An open connection takes the new key when it is there.
  await join_([], third.invitation);
  await soon(() => expect(connection.flush()).resolves.toBeUndefined());
  await isTold(2);
  await ann.run(['note', 'add', 'Back again']);
  await soon(() => expect(follower.stdout()).toContain('Back again'));
  expect(follower.stderr().split(lost)).toHaveLength(3);
  expect(follower.stderr().match(/-- connected again/g)).toHaveLength(2);
  expect(await bob.run(['team', 'revoke', 'eve'])).toMatchObject({
    stderr: expect.stringContaining('members: ann'),
  });
  await begin(ann);
  expect(await readdir(join(ann.state, 'hooks', 'starts'))).toHaveLength(1);
  const file = join(ann.state, 'team');
  const whole = await readFile(file, 'utf8');
  await writeFile(file, whole.slice(0, 9));
  expect((await ann.run(['status'])).stderr).toContain(`${file} is damaged: "throughline team leave"`);
  await writeFile(file, whole);
  expect((await ann.run(['team', 'leave'])).stdout).toBe(`throughline team left ${third.url}\n`);
  await writeFile(file, '{');
  expect((await ann.run(['team', 'leave'])).code).toBe(0);
  expect(await readdir(ann.state)).not.toContain('team');
  expect(await readdir(ann.state)).not.toContain('team.nk');
  expect(await readdir(join(ann.state, 'hooks'))).not.toContain('starts');
  expect(serverOnStore(bob.store)).toBeDefined();
});

it('two who are invited at once are both members', async () => {
  const bob = await sharing(...TLS);
  const invited = await Promise.all(['ann', 'eve'].map((name) => bob.run(['team', 'invite', name])));
  expect(invited.map(({ code }) => code)).toEqual([0, 0]);
  const members = JSON.parse((await bob.run(['team', 'members', '--json'])).stdout);
  expect(members.map(({ name }: { name: string }) => name).sort()).toEqual(['ann', 'eve']);
  // The authority is given once.
  await bob.run(['team', 'rotate', 'eve', '--ca', other]);
  const { invitation } = invitationIn((await bob.run(['team', 'rotate', 'ann'])).stdout);
  expect(readInvitation(invitation).ca).toBe(await readFile(other, 'utf8'));
});

it('a server that is away is named with the last start, and joined again at its new address without an invitation', async () => {
  const bob = await sharing(...TLS);
  const ann = await person();
  const { url, invitation } = invitationIn((await bob.run(['team', 'invite', 'ann'])).stdout);
  await ann.run(['team', 'join', '--project'], invitation);
  await ann.run(['note', 'add', 'The lexer is a table']);
  await begin(ann);
  await bob.run(['down']);
  expect(await begin(ann)).toMatch(/as of \d\d:\d\d, the server does not answer.*The lexer is a table/);
  expect((await ann.run(['status'])).stderr).toContain(
    'name its new address with "throughline team join URL"',
  );
  const port = String(await freePort('127.0.0.1'));
  await bob.run(['up', '--detach', '--no-inspector', '--port', port, '--listen', '127.0.0.1', ...TLS]);
  const moved = url.replace(/\d+$/, port);
  for (const named of [moved, moved.replace('tls://', ''), moved.replace('tls:', 'nats:')])
    expect((await ann.run(['team', 'join', named, '--project'])).stdout).toBe(
      `throughline team joined ${moved} as ann\n`,
    );
  expect((await ann.run(['doctor'])).stdout).toContain('named by "throughline team join --project", as ann');
  const { stderr: keptKey } = await ann.run(['team', 'join', moved, '--project'], invitation);
  expect(keptKey).toContain('joined with the key that was here');
  const other = await ann.run(['team', 'join', moved.replace('127.0.0.1', 'localhost'), '--project']);
  expect(other.stderr).toContain('name the server as its certificate does');
  await begin(ann);
  // A server without TLS in its place is sent nothing.
  await bob.run(['down']);
  await bob.run(['up', '--detach', '--no-inspector', '--port', port, '--listen', '127.0.0.1', '--no-tls']);
  expect((await ann.run(['status'])).stderr).toMatch(/it offers none: check the address/);
  expect(await begin(ann)).toMatch(/as of \d\d:\d\d, .*it offers none.*The lexer is a table/);
  await rm(join(projectTeamDir(ann.state, ann.home), 'team.nk'));
  expect(await begin(ann)).toMatch(/memory not reachable: the key .*team\.nk cannot be read/);
});

it('what waits for a server of others follows an account of it to another address and with other credentials', async () => {
  const operator = operatorMode();
  const server = await startPrivateNats({ extraConfig: operator.config });
  afterTest(() => server.stop());
  const ann = await person();
  const joined = async (host: string) => {
    const creds = await files.write(`${host}.creds`, operator.creds());
    const url = server.url.replace('127.0.0.1', host);
    expect(await ann.run(['team', 'join', url, '--creds', creds])).toMatchObject({ code: 0 });
    return installationKey(serverInUse(ann.state));
  };
  const entries = { kind: 'trace', session: 'demo', entries: [] } as const;
  spoolOf(ann.state, await joined('127.0.0.1')).keep(entries);
  const installation = await joined('localhost');
  expect(spoolCounts(ann.state)).toEqual([{ installation, waiting: 1, unreadable: 0 }]);
});

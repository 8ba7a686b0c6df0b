import { readFile, rm } from 'node:fs/promises';
import { Events } from 'nats';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { connectThroughline } from '../../../src/index.js';
import { connectNats } from '../../../src/nats/connection/connect-nats.js';
import type { NatsAccess } from '../../../src/nats/connection/nats-access.js';
import { startNatsServer } from '../../../src/nats/server/server-process.js';
import { withoutCredentials } from '../../../src/shared/text.js';
import {
  type CredentialsFolder,
  credentialsFolder,
  operatorMode,
  userKey,
} from '../../support/credentials.js';
import { nativeSource } from '../../support/nats-native.js';
import { type PrivateNats, startPrivateNats } from '../../support/nats-server.js';
import { afterTest } from '../../support/of-file.js';
import { soon } from '../../support/system.js';

/** Tests every authentication method, right and wrong, against a server that requires it. */

const SECRET = 'a-secret-that-nobody-sees';
let files: CredentialsFolder;
let ca: string;
let otherCa: string;
let servers: Record<
  'password' | 'token' | 'nkey' | 'creds' | 'tls' | 'mutual' | 'open' | 'misnamed',
  PrivateNats
>;
let paths: Record<'nkey' | 'otherNkey' | 'creds' | 'otherCreds' | 'expired' | 'garbage', string>;
let mine: { cert: string; key: string };
let stranger: { cert: string; key: string };

const start = (extraConfig: string) => startPrivateNats({ extraConfig });

beforeAll(async () => {
  files = await credentialsFolder();
  [ca, otherCa] = [await files.authority('ca'), await files.authority('other-ca')];
  const server = await files.certificate('server', 'ca');
  const misnamed = await files.certificate('misnamed', 'ca', 'DNS:nats.example.com');
  mine = await files.certificate('client', 'ca');
  stranger = await files.certificate('stranger', 'other-ca');
  const [user, other] = [userKey(), userKey()];
  const [operator, otherOperator] = [operatorMode(), operatorMode()];
  paths = {
    nkey: await files.write('user.nk', `${user.seed}\n`),
    otherNkey: await files.write('other.nk', other.seed),
    creds: await files.write('user.creds', operator.creds()),
    otherCreds: await files.write('other.creds', otherOperator.creds()),
    expired: await files.write('expired.creds', operator.creds(-60)),
    garbage: await files.write('garbage', SECRET),
  };
  const tls = (of: { cert: string; key: string }, more = '') =>
    `tls { cert_file: "${of.cert}", key_file: "${of.key}"${more} }`;
  servers = {
    password: await start(`authorization { user: me, password: "${SECRET}" }`),
    token: await start(`authorization { token: "${SECRET}" }`),
    nkey: await start(`authorization { users = [ { nkey: ${user.publicKey} } ] }`),
    creds: await start(operator.config),
    tls: await start(tls(server)),
    mutual: await start(tls(server, `, ca_file: "${ca}", verify: true`)),
    misnamed: await start(tls(misnamed)),
    open: await start(''),
  };
});
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  await files[Symbol.asyncDispose]();
});

const connect = (url: string, access: NatsAccess) =>
  connectNats({ url, name: 'throughline test', logger: silentLogger, timeoutMs: 3000, access });

/** Returns the code of the connect error, whose message must not reveal a secret. */
async function faultOf(url: string, access: NatsAccess): Promise<unknown> {
  const fault = await connect(url, access).then(
    async (connection) => connection.close().then(() => ({ code: 'connected' })),
    (error: unknown) => error,
  );
  expect(fault instanceof Error ? `${fault.message}${fault.stack}` : '').not.toContain(SECRET);
  return fault;
}

/** Accepted credentials per server. */
const RIGHT: readonly (readonly [keyof typeof servers, () => NatsAccess])[] = [
  ['password', () => ({ user: 'me', password: SECRET })],
  ['token', () => ({ token: SECRET })],
  ['nkey', () => ({ nkey: paths.nkey })],
  ['creds', () => ({ creds: paths.creds })],
  ['tls', () => ({ ca })],
  ['mutual', () => ({ ca, ...mine })],
];

describe('a server that asks who comes, or wants TLS', () => {
  it.each(RIGHT)(
    'a server with %s access accepts the SDK with it, and rejects it without',
    async (name, access) => {
      const { url } = servers[name];
      await using client = await connectThroughline({ url, ...access() });
      // Throughline never ran there: JetStream itself answers.
      const published = client.publishText('demo', 'implementer', 'x', { timeoutMs: 500 });
      await expect(published).rejects.toMatchObject({ code: 'unavailable' });
      const code = name === 'tls' || name === 'mutual' ? 'tls_failed' : 'auth_failed';
      expect(await faultOf(url, {})).toMatchObject({ code });
    },
  );

  const WRONG: readonly (readonly [string, keyof typeof servers, () => NatsAccess, string])[] = [
    ['a wrong password', 'password', () => ({ user: 'me', password: `${SECRET}!` }), 'auth_failed'],
    ['another user', 'password', () => ({ user: 'you', password: SECRET }), 'auth_failed'],
    ['a token for a password', 'password', () => ({ token: SECRET }), 'auth_failed'],
    ['a wrong token', 'token', () => ({ token: `${SECRET}!` }), 'auth_failed'],
    ['the seed of another user', 'nkey', () => ({ nkey: paths.otherNkey }), 'auth_failed'],
    ['creds of another operator', 'creds', () => ({ creds: paths.otherCreds }), 'auth_failed'],
    ['creds that have expired', 'creds', () => ({ creds: paths.expired }), 'auth_failed'],
    ['another authority', 'tls', () => ({ ca: otherCa }), 'tls_failed'],
    ['a certificate of another host', 'misnamed', () => ({ ca }), 'tls_failed'],
    ['TLS where the server has none', 'open', () => ({ ca }), 'tls_failed'],
    ['no certificate of ours', 'mutual', () => ({ ca }), 'tls_failed'],
    ['a certificate that the server does not trust', 'mutual', () => ({ ca, ...stranger }), 'tls_failed'],
  ];

  it.each(WRONG)('the error for %s says what is wrong', async (_, name, access, code) => {
    expect(await faultOf(servers[name].url, access())).toMatchObject({ code });
  });

  it.each([
    ['user and password', 'password', `me:${SECRET}@`],
    ['a token', 'token', `${SECRET}@`],
  ] as const)('a connection takes %s from the URL', async (_, name, credentials) => {
    const url = servers[name].url.replace('//', `//${credentials}`);
    await (await connect(url, {})).close();
    expect(await faultOf(url.replace(SECRET, 'wrong'), {})).toMatchObject({ code: 'auth_failed' });
  });

  it.each(['a:b', 'a@b', 'a@b:c'])(
    'a connection takes the password %s from the URL, whole',
    async (password) => {
      await using server = await start(`authorization { user: me, password: "${password}" }`);
      await (await connect(server.url.replace('//', `//me:${password}@`), {})).close();
      await (await connect(server.url.replace('//', `//me:${encodeURIComponent(password)}@`), {})).close();
    },
  );

  it('a connection takes tls:// for TLS, and refuses a server that has none', async () => {
    await (await connect(servers.tls.url.replace('nats:', 'tls:'), { ca })).close();
    const url = servers.open.url.replace('nats:', 'tls:');
    expect(await faultOf(url, {})).toMatchObject({ code: 'tls_failed' });
  });

  it('a connection starts with TLS where the server greets only after it', async () => {
    const server = await files.certificate('first', 'ca');
    const storeDir = `${files.path}/store`;
    const tls = (first: boolean) =>
      `tls { cert_file: "${server.cert}", key_file: "${server.key}", handshake_first: ${first} }`;
    const options = { source: await nativeSource(), storeDir };
    const running = await startNatsServer({ ...options, extraConfig: tls(false) });
    afterTest(() => running.stop());
    // Started without it, since the readiness check waits for the server's greeting.
    const { readFile, writeFile } = await import('node:fs/promises');
    const config = `${storeDir}/nats-server.conf`;
    await writeFile(config, (await readFile(config, 'utf8')).replace(tls(false), tls(true)));
    process.kill(running.pid, 'SIGHUP');
    await soon(async () => expect(await faultOf(running.url, { ca })).toMatchObject({ code: 'unavailable' }));
    const connection = await connect(running.url, { ca, tlsFirst: true });
    expect(connection.info?.jetstream).toBe(true);
    await connection.close();
  });
});

describe('a file that says who connects', () => {
  it.each(['nkey', 'creds'] as const)(
    'a file with credentials may be missing for a moment during a reconnect: %s',
    async (name) => {
      const file = await files.write(`exchanged.${name}`, await readFile(paths[name], 'utf8'));
      const connection = await connect(servers[name].url, { [name]: file });
      const back = new Promise((resolve) => {
        void (async () => {
          for await (const { type } of connection.status())
            if (type === Events.Reconnect) resolve('connected');
        })();
      });
      await rm(file);
      await connection.reconnect();
      expect(await Promise.race([back, connection.closed()])).toBe('connected');
      await connection.flush();
      await connection.close();
    },
  );
});

describe('an address that cannot be used', () => {
  it.each(['127.0.0.1:99999', 'nats://127.0.0.1:0', 'http://127.0.0.1:4222', 'foo://bar'])(
    'the address %s is refused with what it should be',
    async (url) => {
      expect(await faultOf(url, {})).toMatchObject({
        code: 'config_invalid',
        message: `NATS_URL or --nats is "${url}": use nats://host:port or tls://host:port, with a port from 1 to 65535`,
      });
    },
  );

  it.each<[string, keyof typeof servers, NatsAccess, string]>([
    ['password', 'password', { user: 'me', password: `${SECRET}!` }, '--user me'],
    ['credentials', 'creds', { creds: '$' }, '--creds /'],
  ])('what team join has recorded names its own options: wrong %s', async (_, name, given, option) => {
    const access = 'creds' in given ? { creds: paths.otherCreds } : given;
    const join = (url: string) =>
      connectNats({ url: { url, as: 'me', access }, name: 'throughline test', logger: silentLogger });
    await expect(join(servers[name].url)).rejects.toThrow(
      new RegExp(
        `rejected the credentials .*: check them, then "throughline team join nats://\\S+ ${option}`,
      ),
    );
    await expect(join('http://127.0.0.1:1')).rejects.toThrow(/^the address is "http:.*use nats:/);
  });

  it('a port alone is refused with the address that it probably means', async () => {
    await expect(connect('4999', {})).rejects.toThrow('a port alone: use nats://127.0.0.1:4999');
  });
});

describe('a password with a slash or a comma, which no URL can hold', () => {
  it.each([
    ...['nats://me:a/', 'nats://me/a:', 'me:a/', 'nats://127.0.0.1:1,nats://me:a/', 'nats://me:a,b/'],
    ...['nats://me:a,', 'me:a,', 'nats+ws://me:a,', 'nats://me:a,\n'],
  ])('a password with a slash or a comma is refused and never shown: %s…', async (before) => {
    const url = `${before}${SECRET}@127.0.0.1:4222`;
    const message = expect.stringMatching(
      /^NATS_URL or --nats is "[^"]*\*\*\*@127.*write \/ as %2F and a comma as %2C/,
    );
    expect(await faultOf(url, {})).toMatchObject({ code: 'config_invalid', message });
    expect(withoutCredentials(url)).not.toContain(SECRET);
  });

  it('hiding secrets in a list of addresses hides every password and nothing else', () => {
    expect(withoutCredentials('nats://me:a@one:1,nats://two:2,tls://b@three:3', '***@')).toBe(
      'nats://***@one:1,nats://two:2,tls://***@three:3',
    );
  });
});

describe('an access that cannot be used', () => {
  it.each<[string, () => NatsAccess, string]>([
    [
      'a missing file',
      () => ({ creds: '/no/such.creds' }),
      'NATS_CREDS or --creds: /no/such.creds cannot be read',
    ],
    ['creds that are none', () => ({ creds: paths.garbage }), 'NATS_CREDS'],
    ['a seed that is none', () => ({ nkey: paths.garbage }), 'NATS_NKEY'],
    ['an authority that is none', () => ({ ca: paths.garbage }), 'NATS_CA'],
    ['a certificate without its key', () => ({ cert: mine.cert }), 'NATS_CERT is set without NATS_KEY'],
    ['a key without its certificate', () => ({ key: mine.key }), 'NATS_KEY is set without NATS_CERT'],
    ['a password without a user', () => ({ password: SECRET }), 'NATS_PASSWORD is set without NATS_USER'],
    ['a user without a password', () => ({ user: 'me' }), 'NATS_USER is set without NATS_PASSWORD'],
    ['two ways at once', () => ({ user: 'me', token: SECRET }), 'NATS_USER and NATS_TOKEN'],
    ['an inbox prefix with a wildcard', () => ({ inboxPrefix: 'a.>' }), 'THROUGHLINE_INBOX_PREFIX'],
  ])('an access with %s is refused before anything is sent', async (_, access, text) => {
    expect(await faultOf('nats://127.0.0.1:1', access())).toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(text),
    });
  });
});

describe('a connection whose user was changed', () => {
  it('a connection whose user was changed goes on trying, says why the credentials are rejected, and comes back', async () => {
    const storeDir = `${files.path}/changing`;
    const options = { source: await nativeSource(), storeDir };
    const users = (password: string) => `authorization { user: me, password: "${password}" }`;
    let running = await startNatsServer({ ...options, extraConfig: users('one') });
    const logger = { ...silentLogger, warn: vi.fn(), info: vi.fn() };
    const access = { user: 'me', password: 'one' };
    const connection = await connectNats({ url: running.url, name: 'test', logger, access });
    afterTest(async () => {
      await connection.close();
      await running.stop();
    });
    await running.stop();
    running = await startNatsServer({ ...options, port: running.port, extraConfig: users('two') });
    const refused = () =>
      logger.warn.mock.calls.filter(([fields]) => Object(fields).code === 'auth_failed').length;
    await soon(() => expect(refused()).toBeGreaterThan(2));
    await running.stop();
    running = await startNatsServer({ ...options, port: running.port, extraConfig: users('one') });
    await soon(() => expect(logger.info).toHaveBeenCalled());
    expect(connection.isClosed()).toBe(false);
  });
});

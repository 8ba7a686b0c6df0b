import { AckPolicy, headers, StorageType } from 'nats';
import { describe, expect, it } from 'vitest';
import { sessionStream, type Token } from '../../src/contracts/names.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { connectNats } from '../../src/nats/connection/connect-nats.js';
import type { NatsAccess } from '../../src/nats/connection/nats-access.js';
import { examine } from '../../src/nats/doctor/examine.js';
import { cli } from '../support/cli.js';
import { credentialsFolder, operatorMode } from '../support/credentials.js';
import { bad, doctor, EXPECTED, levels, of } from '../support/doctor.js';
import { startListener } from '../support/listener.js';
import { startPrivateNats, type TestNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import { newSession, publishWork, soon, startPrivateSystem, systemOfFile } from '../support/system.js';

describe('throughline doctor on a healthy installation', async () => {
  const system = await ofFile(startPrivateSystem());
  const { sequence: after } = await publishWork(system.client, 'well', '1');
  await system.client.compile({ session: 'well', taskId: '2', taskPrompt: 'x', after });

  it('the doctor finds a healthy installation in order, and exits 0', async () => {
    const { code, found } = await doctor(system.url);
    expect(bad(found)).toEqual([]);
    // It is on loopback, for all users of the machine.
    expect(of(found, 'access')).toMatchObject([{ level: 'warn' }]);
    expect({ code, checks: found.map(({ check }) => check) }).toEqual({
      code: 0,
      checks: [
        'server in use',
        ...['server', 'JetStream storage', 'JetStream memory', 'JetStream streams', 'JetStream consumers'],
        ...['JetStream writes', 'subjects'],
        ...['stream DISPATCH', 'stream LEARNINGS', 'stream DISPATCH_REJECTED', 'stream PROMPTS'],
        ...['stream KV_session_index'],
        ...['stream KV_session_snapshots', 'stream KV_session_lifecycle'],
        ...['sessions', 'consumer extractor', 'rejected'],
        ...['service extractor', 'service prompt-compiler', 'service session-tools', 'service learnings'],
        ...['service keeper', 'access'],
      ],
    });
  });

  it('the doctor prints a line for each check', async () => {
    const { code, stdout } = await cli(['doctor'], { env: { NATS_URL: system.url } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {4}server in use: .*\nok {4}server: nats-server \d/);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .every((line) => /^ok {4}|^warn {2}access: |^ {6}→ /.test(line)),
    ).toBe(true);
  });

  it('changes nothing', async () => {
    const jsm = await system.ports.connection.jetstreamManager();
    const state = async () => {
      const streams = [];
      for await (const { config, state, created } of jsm.streams.list())
        streams.push({ config, state, created });
      return streams;
    };
    // Services store these a while after the first prompt.
    await soon(async () => {
      for (const stream of ['PROMPTS', 'KV_session_index'])
        expect((await jsm.streams.info(stream)).state.messages).toBeGreaterThan(0);
    });
    const before = await state();
    await doctor(system.url);
    expect(await state()).toEqual(before);
  });

  it('the doctor warns of rejected results, and of another configuration', async () => {
    await system.client.publishText('well', 'implementer', 'no result');
    await soon(async () => {
      const { code, found } = await doctor(system.url, { THROUGHLINE_TUNING: 'ackWaitMs=20000' });
      expect(code).toBe(0);
      expect(levels(bad(found))).toEqual({
        rejected: 'warn',
        'consumer extractor': 'warn',
      });
    });
  });

  it('the doctor warns of an instance of another version', async () => {
    const found = await examine(system.ports.connection, { ...EXPECTED, version: '9.9.9' });
    expect(levels(found)).toMatchObject({ 'service prompt-compiler': 'warn', 'service extractor': 'warn' });
  });
});

describe('throughline doctor on a broken one', async () => {
  // Nobody works: what is broken stays so.
  const system = await systemOfFile({ only: [] });
  const jsm = await system.ports.connection.jetstreamManager();
  const found = async () => {
    const looked = await doctor(system.url);
    return { code: looked.code, levels: levels(looked.found), found: looked.found };
  };

  it('the doctor fails for services that do not answer, and for a missing consumer', async () => {
    const looked = await found();
    expect(looked).toMatchObject({
      code: 1,
      levels: {
        'service extractor': 'fail',
        'service prompt-compiler': 'fail',
        'service session-tools': 'fail',
        'consumer extractor': 'fail',
      },
    });
    expect(bad(looked.found).every(({ fix }) => fix !== undefined)).toBe(true);
  });

  it('the doctor fails for dispatches that no consumer fetches', async () => {
    await jsm.consumers.add('DISPATCH', {
      durable_name: 'extractor',
      ack_policy: AckPolicy.Explicit,
      ack_wait: 10_000_000_000,
    });
    await publishWork(system.client, 'broken', '1');
    expect((await found()).found.filter(({ check }) => check === 'consumer extractor')).toMatchObject([
      { level: 'fail', message: '1 result waits, and no service fetches them' },
    ]);
  });

  it('the doctor fails for a stream without direct get or with other subjects', async () => {
    await jsm.streams.update('DISPATCH', { subjects: ['dispatch.only.>'], allow_direct: false });
    const looked = (await found()).found.filter(({ check }) => check === 'stream DISPATCH');
    expect(looked).toMatchObject([
      { level: 'fail', message: 'takes dispatch.only.>, not dispatch.>' },
      { level: 'fail', message: expect.stringContaining('direct get') },
    ]);
  });

  it('the doctor fails for missing streams and buckets', async () => {
    const buckets = ['KV_session_snapshots'];
    const names = ['DISPATCH', 'DISPATCH_REJECTED', 'LEARNINGS', ...buckets];
    for (const name of names) await jsm.streams.delete(name);
    const missing = Object.fromEntries(names.map((name) => [`stream ${name}`, 'fail']));
    expect(await found()).toMatchObject({ code: 1, levels: missing });
  });

  it('the doctor warns of a session stream in memory, and of one that is nearly full', async () => {
    const [inMemory, full] = [newSession('memory'), newSession('full')];
    const add = (session: Token, more: object) =>
      jsm.streams.add({
        name: sessionStream(session),
        subjects: [`session.${session}.>`],
        allow_direct: true,
        ...more,
      });
    await add(inMemory, { storage: StorageType.Memory });
    await add(full, { max_bytes: 1000 });
    const js = system.ports.connection.jetstream();
    for (let each = 0; each < 9; each += 1) {
      await js.publish(`session.${full}.note`, 'x'.repeat(40), { headers: headers() });
    }
    expect(levels((await found()).found)).toMatchObject({
      [`stream ${sessionStream(inMemory)}`]: 'warn',
      [`stream ${sessionStream(full)}`]: 'warn',
    });
  });
});

/** The first line, also where nothing else can be said. */
const IN_USE = { check: 'server in use', level: 'ok' };

describe('throughline doctor', () => {
  it('the doctor fails with the error code when no server answers, and when its credentials are rejected', async () => {
    await using nats = await startPrivateNats({ extraConfig: 'authorization { token: "x" }' });
    const outside = await doctor(nats.url);
    expect(outside).toMatchObject({ code: 1, found: [IN_USE, { check: 'connection', level: 'fail' }] });
    expect(outside.found[1]?.message).toContain('(auth_failed)');
    await nats.kill();
    expect((await doctor(nats.url)).found[1]?.message).toContain('(unavailable)');
  });

  it('the doctor fails for an old server, and says which one to run', async () => {
    await using old = await startListener((socket) => {
      socket.write('INFO {"server_id":"X","version":"2.9.21","jetstream":true,"max_payload":1024}\r\n');
      socket.on('data', (data) => String(data).includes('PING') && socket.write('PONG\r\n'));
    });
    const message = expect.stringMatching(/2\.9\.21: 2\.12\.0 or newer is needed \(server_unsupported\)$/);
    const fix = expect.stringContaining('2.12.0 or newer');
    expect(await doctor(old.url)).toMatchObject({
      code: 1,
      found: [IN_USE, { check: 'server', level: 'fail', message, fix }],
    });
  });

  it('the doctor fails for an account without JetStream, and looks no further', async () => {
    await using nats = await startPrivateNats({ extraConfig: NO_JETSTREAM });
    const { code, found } = await doctor(nats.url, USER);
    expect({ code, levels: levels(found) }).toEqual({
      code: 1,
      levels: { 'server in use': 'ok', server: 'ok', JetStream: 'fail' },
    });
  });

  it('the doctor tells an account that is nearly full from one that is full, for each of its limits', async () => {
    await using nats = await startPrivateNats({ extraConfig: ACCOUNT });
    const account = await accountOf(nats);
    const limits = async () => {
      const { found } = await doctor(nats.url, USER);
      return ['streams', 'consumers', 'memory', 'storage'].map((what) => levels(found)[`JetStream ${what}`]);
    };
    for (const name of ['A', 'B', 'C', 'D']) await account.add(name);
    await account.add('E', 4);
    expect(await limits()).toEqual(['warn', 'warn', 'ok', 'ok']);
    await account.add('F', 1);
    await account.fill('A', 850_000);
    await account.fill('E', 980_000);
    expect(await limits()).toEqual(['fail', 'fail', 'fail', 'warn']);
    await account.close();
  });

  it('the doctor shows the limits of each tier of an account that has tiers', async () => {
    await using files = await credentialsFolder();
    const operator = operatorMode({
      R1: { mem_storage: 0, disk_storage: 1_000_000, streams: 10, consumer: 10 },
      R3: { mem_storage: 0, disk_storage: 1_000_000, streams: 10, consumer: 10 },
    });
    await using nats = await startPrivateNats({ extraConfig: operator.config });
    const creds = await files.write('user.creds', operator.creds());
    const account = await accountOf(nats, { creds });
    const limits = async () => {
      const { found } = await doctor(nats.url, { NATS_CREDS: creds });
      return ['storage R1', 'streams R1'].map((what) => levels(found)[`JetStream ${what}`]);
    };
    await account.add('A');
    expect(await limits()).toEqual(['ok', 'ok']);
    await account.fill('A', 960_000);
    expect(await limits()).toEqual(['fail', 'ok']);
    await account.close();
  });
});

const USER = { NATS_USER: 'u', NATS_PASSWORD: 'p' };
const LIMITS = 'max_streams: 6, max_consumers: 5, max_file: 1000000, max_memory: 1000000';
const ACCOUNT = `accounts { A { jetstream: { ${LIMITS} }, users: [ { user: u, password: p } ] } }`;
const NO_JETSTREAM = 'accounts { A { users: [ { user: u, password: p } ] } }';

/** A user that fills an account: streams in memory from `E` on. */
async function accountOf(nats: TestNats, access: NatsAccess = { user: 'u', password: 'p' }) {
  const connection = await connectNats({ url: nats.url, name: 'test', logger: silentLogger, access });
  const jsm = await connection.jetstreamManager();
  return {
    async add(name: string, consumers = 0) {
      const storage = name < 'E' ? StorageType.File : StorageType.Memory;
      await jsm.streams.add({ name, subjects: [name], storage });
      for (let each = 0; each < consumers; each += 1)
        await jsm.consumers.add(name, { durable_name: `c${each}`, ack_policy: AckPolicy.Explicit });
    },
    fill: (name: string, bytes: number) => connection.jetstream().publish(name, new Uint8Array(bytes)),
    close: () => connection.close(),
  };
}

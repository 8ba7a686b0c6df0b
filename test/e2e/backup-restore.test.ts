import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  DISPATCH_STREAM,
  dispatchSubject,
  EXTRACTOR_CONSUMER,
  PER_SESSION,
  type Token,
} from '../../src/contracts/names.js';
import type { StoredEvent } from '../../src/contracts/session-events.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { encodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import { DEFAULT_LIMITS, emptyState, type SessionState } from '../../src/memory/session/session-state.js';
import { readStream } from '../../src/nats/jetstream/direct-get.js';
import type { NatsPorts } from '../../src/nats/open-nats.js';
import { cli, cliProcess } from '../support/cli.js';
import { bad, doctor } from '../support/doctor.js';
import { startGuardedSystem } from '../support/guarded-system.js';
import { startTestNats, type TestNats } from '../support/nats-server.js';
import { folderOfTest } from '../support/of-file.js';
import {
  allDealtWith,
  freshState,
  implemented,
  newSession,
  publishWork,
  reviewed,
  type System,
  soon,
  startPrivateSystem,
  startSystem,
} from '../support/system.js';

/** A few events: snapshots are written while the backup runs. */
const OFTEN = { THROUGHLINE_TUNING: 'snapshotEvery=5' };

const on = (server: Pick<TestNats, 'url'>, ...args: string[]) => cli(args, { env: { NATS_URL: server.url } });

/** Publishes results of both roles, and some that cannot be used, until it is told to stop. */
function underLoad({ ports, client }: System, sessions: readonly Token[]) {
  let over = false;
  const publishing = sessions.map(async (session, which) => {
    for (let index = 0; !over; index += 1) {
      const body =
        index % 7 === 6
          ? '{"neither": "this nor that"'
          : index % 3 === 2
            ? JSON.stringify(
                reviewed(`t${index % 5}`, 'needs_changes', { required_fixes: [`check bounds ${which}`] }),
              )
            : JSON.stringify(implemented(`t${index % 5}`, { summary: `step ${index}` }));
      const role = index % 3 === 2 ? 'reviewer' : 'implementer';
      await ports.source.publish(dispatchSubject(session, role), Buffer.from(body));
      if (index % 10 === 5) await client.tools.taskAdd({ session, content: `task ${index}` });
    }
  });
  return async () => {
    over = true;
    await Promise.all(publishing);
  };
}

async function events({ log }: NatsPorts, session: Token, through?: number): Promise<readonly StoredEvent[]> {
  return (await log.read(session, { after: 0, ...(through !== undefined && { through }) })).events;
}

function folded(session: Token, log: readonly StoredEvent[]): SessionState {
  return log.reduce(evolve, emptyState(session, DEFAULT_LIMITS));
}

const bytes = (state: SessionState) => encodeSnapshot(state, '');

/** Sequences of the dispatches of a session. */
async function dispatches({ connection }: NatsPorts, session: Token): Promise<number[]> {
  const found = await readStream(
    { connection, stream: DISPATCH_STREAM, timeoutMs: 5000 },
    `dispatch.${session}.*`,
    { from: 1 },
  );
  return found.map(({ sequence }) => sequence);
}

/** Sequences of the dispatches that events name, each once. */
function named(log: readonly StoredEvent[]): number[] {
  const all = log.flatMap(({ event }) =>
    event.type === 'fact.recorded' || event.type === 'dispatch.rejected'
      ? [event.data.dispatch.sequence]
      : [],
  );
  return [...new Set(all)].sort((one, other) => one - other);
}

async function streamNames(ports: NatsPorts): Promise<string[]> {
  const names: string[] = [];
  const jsm = await ports.connection.jetstreamManager();
  for await (const name of jsm.streams.names()) names.push(name);
  return names.sort();
}

describe('a backup', () => {
  it('that is made under load restores to the same states, and all that was pending is extracted once', async () => {
    const folder = await folderOfTest();
    const directory = join(folder, 'backup');
    await using source = await startSystem({ env: OFTEN });
    const sessions = Array.from({ length: 8 }, (_, index) => newSession(`kept${index}`));
    await source.client.tools.retentionSet({ action: 'forget', after: '365d' });
    const stop = underLoad(source, sessions);
    await soon(async () => expect(await source.ports.source.newest()).toBeGreaterThan(100));
    await soon(async () => expect(await streamNames(source.ports)).toContain('KV_session_index'));
    // In another process: this one publishes all the time.
    const made = await cliProcess(['admin', 'backup', directory, '--json'], {
      env: { NATS_URL: source.url },
    });
    await stop();
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const report = JSON.parse(made.stdout);
    expect(report).toMatchObject({ directory, layout: PER_SESSION });
    expect((await stat(directory)).mode & 0o077).toBe(0);
    const files = await readdir(join(directory, 'streams'));
    expect(files).toHaveLength(report.streams);
    for (const file of files) expect((await stat(join(directory, 'streams', file))).mode & 0o077).toBe(0);
    await allDealtWith(source.ports);

    await using server = await startTestNats();
    const restored = await on(server, 'admin', 'restore', directory);
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('restored') });
    {
      await using target = await startSystem({ nats: server, env: OFTEN, only: [] });
      // Leases are not copied: their bucket is made by the first process that takes one.
      const kept = (await streamNames(source.ports)).filter((name) => name !== 'KV_session_leases');
      expect(await streamNames(target.ports)).toEqual(expect.arrayContaining(kept));
      for (const session of sessions) {
        const copied = await events(target.ports, session);
        const last = copied.at(-1)?.sequence ?? 0;
        const original = await events(source.ports, session, last);
        expect(copied.length).toBeGreaterThan(5);
        expect(copied).toEqual(original);
        expect(bytes(await freshState(target, session))).toEqual(bytes(folded(session, original)));
        const there = new Set(await dispatches(target.ports, session));
        expect(named(copied).filter((sequence) => !there.has(sequence))).toEqual([]);
      }
      const jsm = await target.ports.connection.jetstreamManager();
      const { config } = await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
      // Not all over again: what was dealt with before the backup stays so.
      expect(config.opt_start_seq).toBeGreaterThan(1);
    }
    await using target = await startSystem({ nats: server, env: OFTEN });
    await allDealtWith(target.ports);
    for (const session of sessions) {
      const all = await dispatches(target.ports, session);
      const now = await events(target.ports, session);
      expect(named(now)).toEqual(all);
      const state = await freshState(target, session);
      expect(bytes(state)).toEqual(bytes(folded(session, now)));
      const { counts } = state.dispatches.current();
      const rejected = new Set(
        now.flatMap(({ event }) =>
          event.type === 'dispatch.rejected' ? [event.data.dispatch.sequence] : [],
        ),
      ).size;
      expect(counts.implementer + counts.reviewer + rejected).toBe(all.length);
    }
    // A backup may be older than its rules let sessions become.
    expect(await target.client.tools.retentionShow({})).toMatchObject({ rules: [] });
    // The installation works on as any other.
    const [session = newSession('none')] = sessions;
    await publishWork(target.client, session, 'after');
    await allDealtWith(target.ports);
    const { code, found } = await doctor(target.url, OFTEN);
    expect({ code, bad: bad(found).filter(({ level }) => level === 'fail') }).toEqual({ code: 0, bad: [] });
  });
});

describe('what is refused', () => {
  it('a damaged, missing or unfinished backup is refused by name before anything is restored', async () => {
    const folder = await folderOfTest();
    const directory = join(folder, 'backup');
    await using source = await startSystem();
    const session = newSession('damaged');
    await publishWork(source.client, session, '1');
    await allDealtWith(source.ports);
    expect(await on(source, 'admin', 'backup', directory)).toMatchObject({ code: 0 });
    expect(await on(source, 'admin', 'backup', directory)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('give a directory that is new or empty'),
    });
    expect(await on(source, 'admin', 'restore', directory)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('restore into an empty server or account'),
    });
    await using server = await startTestNats();
    const file = (await readdir(join(directory, 'streams'))).find((name) => name.includes('DISPATCH.')) ?? '';
    const path = join(directory, 'streams', file);
    const whole = await readFile(path);
    const flipped = Buffer.from(whole);
    flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] ?? 0) ^ 1;
    const damages: readonly [how: () => Promise<unknown>, says: string][] = [
      [() => writeFile(path, flipped), 'SHA-256'],
      [() => rm(path), 'cannot be read (ENOENT)'],
    ];
    for (const [damage, says] of damages) {
      await damage();
      const { code, stderr } = await on(server, 'admin', 'restore', directory);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(file) });
      expect(stderr).toContain(says);
    }
    await writeFile(path, whole);
    await mkdir(join(folder, 'unfinished', 'streams'), { recursive: true });
    expect(await on(server, 'admin', 'restore', join(folder, 'unfinished'))).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('throughline-backup.json'),
    });
    expect(await on(server, 'admin', 'backup', join(folder, 'nothing'))).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('nothing to back up'),
    });
    expect(await on(server, 'admin', 'restore', directory, '--replicas', '3')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('restore with --replicas 1'),
    });
    expect(await on(server, 'admin', 'restore', directory)).toMatchObject({ code: 0 });
  });

  it('a server that is lost ends a backup, which then holds no manifest', async () => {
    const folder = await folderOfTest();
    await using source = await startPrivateSystem();
    const large = 'x'.repeat(200_000);
    for (let count = 0; count < 40; count += 1)
      await publishWork(source.client, newSession('lost'), '1', { summary: large });
    await allDealtWith(source.ports);
    const directory = join(folder, 'backup');
    const backup = on(source, 'admin', 'backup', directory);
    await soon(async () => expect((await readdir(join(directory, 'streams'))).length).toBeGreaterThan(3));
    await source.nats.kill();
    const { code, stderr } = await backup;
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('(unavailable)') });
    expect(await readdir(directory)).toEqual(['streams']);
    await source.nats.restart();
  });
});

describe('admin permissions', () => {
  it('a user with the role operator makes a backup, and a reader cannot', async () => {
    await using system = await startGuardedSystem([
      { name: 'operator', role: 'operator' },
      { name: 'reader', role: 'reader' },
    ]);
    await publishWork(system.client, 'demo', '1');
    await allDealtWith(system.ports);
    await system.client.tools.sessionArchive({ session: 'demo' });
    const folder = await folderOfTest();
    expect(await system.as('operator', 'admin', 'backup', join(folder, 'one'))).toMatchObject({ code: 0 });
    expect(await system.as('reader', 'admin', 'backup', join(folder, 'two'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('permission_denied'),
    });
    await using server = await startTestNats();
    expect(await on(server, 'admin', 'restore', join(folder, 'one'))).toMatchObject({ code: 0 });
  });
});

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionStream, type Token } from '../../../src/contracts/names.js';
import type { Finding } from '../../../src/nats/doctor/finding.js';
import { indexFindings } from '../../../src/nats/doctor/index-findings.js';
import { natsCli } from '../../support/nats-cli.js';
import {
  allDealtWith,
  implemented,
  newSession,
  publishWire,
  type System,
  soon,
  startSystem,
} from '../../support/system.js';

const LATER_MS = 3_600_000;
const nats = await natsCli();

describe('the index of sessions, to the doctor', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({
      env: { THROUGHLINE_LAYOUT: 'per-session' },
      fixed: { quietMs: 50, busyMs: 200, restMs: 100 },
    });
  });
  afterAll(() => system.stop());

  const found = (later = 0): Promise<Finding[]> =>
    indexFindings({ index: system.ports.index, log: system.ports.log, now: Date.now() + later });

  async function kept(session: Token): Promise<Token> {
    await publishWire(system.client, 'implementer', session, implemented('1'));
    await allDealtWith(system.ports);
    await soon(async () => expect(await entryOf(session)).toBeGreaterThan(0));
    return session;
  }

  async function entryOf(session: Token): Promise<number> {
    for await (const { entries } of system.ports.index.read(0)) {
      const entry = entries.findLast(({ figures }) => figures.session === session);
      if (entry !== undefined) return entry.sequence;
    }
    return 0;
  }

  it('an index that says what the logs have is in order, and stays so while sessions are quiet', async () => {
    await kept(newSession('one'));
    expect(await found(LATER_MS)).toEqual([
      {
        check: 'session index',
        level: 'ok',
        message: expect.stringMatching(/^\d+ entr(y|ies), as the logs/),
      },
    ]);
  });

  it('a session without an entry is told once it has been quiet for longer than a keeper takes', async () => {
    const session = await kept(newSession('two'));
    // The keeper may restore the entry before the doctor looks: then it is removed again.
    await soon(async () => {
      await system.ports.index.remove(session);
      expect(await found()).toMatchObject([{ level: 'ok' }]);
      const [finding] = await found(LATER_MS);
      expect(finding).toMatchObject({
        level: 'warn',
        message: expect.stringMatching(
          new RegExp(`^1 entry is missing or older than the logs.*\\(${session}\\)$`),
        ),
        fix: expect.stringContaining('throughline admin health'),
      });
    });
    await publishWire(system.client, 'implementer', session, implemented('2'));
    await soon(async () => expect(await found(LATER_MS)).toMatchObject([{ level: 'ok' }]));
  });

  it('an entry of a session that has no log is told, and one that is ahead with what mends it', async ({
    skip,
  }) => {
    const [gone, restored] = [await kept(newSession('gone')), await kept(newSession('restored'))];
    const jsm = await system.ports.connection.jetstreamManager();
    await jsm.streams.delete(sessionStream(gone));
    expect(await found()).toMatchObject([
      {
        level: 'warn',
        message: expect.stringContaining(`1 entry is left of sessions that have no log (${gone})`),
      },
    ]);
    const sequence = await entryOf(restored);
    for await (const { entries } of system.ports.index.read(0)) {
      const entry = entries.find(({ figures }) => figures.session === restored);
      if (entry !== undefined) await system.ports.index.put({ ...entry, sequence: sequence + 100 });
    }
    const ahead = (await found()).find(({ message }) => message.includes('further than'));
    expect(ahead?.message).toContain(`(${restored})`);

    if ('missing' in nats) return skip(nats.missing);
    const [, command = ''] = /: nats (.+)$/.exec(ahead?.fix ?? '') ?? [];
    await promisify(execFile)(nats.path, ['--server', system.url, ...command.split(' ')]);
    expect(await found()).toMatchObject([{ level: 'ok', message: expect.stringContaining('0 entries') }]);
  });
});

import { readFile } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  DISPATCH_STREAM,
  dispatchSubject,
  PER_SESSION,
  streamOf,
  type Token,
} from '../../src/contracts/names.js';
import { runCommand } from '../../src/nats/server/install-server.js';
import { BIN, cleanEnv, cli } from '../support/cli.js';
import { bad, doctor } from '../support/doctor.js';
import { loadFresh } from '../support/faults/clean-run.js';
import { natsCli } from '../support/nats-cli.js';
import { startTestNats, type TestNats } from '../support/nats-server.js';
import { folderOfTest } from '../support/of-file.js';
import {
  allDealtWith,
  freshState,
  implemented,
  newSession,
  type System,
  soon,
  startSystem,
  writeSnapshot,
} from '../support/system.js';

const DOCUMENT = new URL('../../docs/how-to/upgrade-and-uninstall.md', import.meta.url);
const env = { THROUGHLINE_TUNING: 'snapshotEvery=10' };

const found = await natsCli();
if ('missing' in found) throw new Error(found.missing);
const nats = found.path;

async function shell(server: TestNats, folder: string, lines: string): Promise<string> {
  const throughline = `throughline() { "${process.execPath}" "${BIN}" "$@"; }`;
  const path = [dirname(nats), process.env.PATH].join(delimiter);
  const given = cleanEnv({ NATS_URL: server.url, PATH: path });
  const script = `set -eu\n${throughline}\n${lines}`;
  const ran = await runCommand('/bin/sh', ['-c', script], { env: given, cwd: folder, timeoutMs: 120_000 });
  if (!ran.ok) throw new Error(ran.reason);
  return ran.stdout;
}

interface Documented {
  readonly backup: string;
  readonly restore: string;
}

async function backUpSections(): Promise<string> {
  const [, sections = ''] = (await readFile(DOCUMENT, 'utf8')).split('\n## Back up\n');
  return sections;
}

/** The commands of docs/how-to/upgrade-and-uninstall.md, as they stand there: ours, and those of the nats command line. */
async function documented(): Promise<{ readonly ours: Documented; readonly byHand: Documented }> {
  const blocks = [...(await backUpSections()).matchAll(/```sh\n([\s\S]*?)```/g)]
    .map(([, lines]) => lines ?? '')
    // The server is started by the test.
    .filter((lines) => !lines.includes('--jetstream'));
  expect(blocks).toHaveLength(4);
  const [backup = '', restore = '', backupByHand = '', restoreByHand = ''] = blocks;
  return { ours: { backup, restore }, byHand: { backup: backupByHand, restore: restoreByHand } };
}

async function publish({ ports }: System, session: Token, count: number, from = 1): Promise<number[]> {
  const sequences: number[] = [];
  for (let index = from; index < from + count; index += 1) {
    const body = Buffer.from(JSON.stringify(implemented(`t${index}`)));
    sequences.push((await ports.source.publish(dispatchSubject(session, 'implementer'), body)).sequence);
  }
  return sequences;
}

/** How many dispatches count, from the snapshot and by the whole log. */
async function counted(system: System, session: Token): Promise<[number, number]> {
  const states = [await freshState(system, session), await loadFresh(system.ports.log, session)];
  const [loaded = 0, replayed = 0] = states.map((state) => state.dispatches.current().counts.implementer);
  return [loaded, replayed];
}

const backup = (stream: string) => `nats stream backup --no-progress ${stream} ${stream}`;
const replace = (stream: string) =>
  `nats stream rm -f ${stream}\nnats stream restore --no-progress ${stream}`;

describe('docs/how-to/upgrade-and-uninstall.md', () => {
  it.each(['ours', 'byHand'] as const)(
    'docs/how-to/upgrade-and-uninstall.md describes a backup under load and a restore after which every result counts: %s',
    async (way) => {
      const { backup: backingUp, restore } = (await documented())[way];
      const session = newSession('kept');
      const folder = await folderOfTest();
      let published = 0;
      {
        await using system = await startSystem({ env });
        published += (await publish(system, session, 60)).length;
        let over = false;
        const publishing = (async () => {
          while (!over) published += (await publish(system, session, 5, published + 1)).length;
        })();
        await shell(system.nats, folder, backingUp);
        over = true;
        await publishing;
      }
      await using server = await startTestNats();
      await shell(server, folder, restore);
      await using system = await startSystem({ nats: server, env });
      await allDealtWith(system.ports);
      const { state } = await (await system.ports.connection.jetstreamManager()).streams.info(
        DISPATCH_STREAM,
      );
      expect(state.messages).toBeGreaterThanOrEqual(60);
      expect(await counted(system, session)).toEqual([state.messages, state.messages]);
      await publish(system, session, 5, 1000);
      await allDealtWith(system.ports);
      expect(await counted(system, session)).toEqual([state.messages + 5, state.messages + 5]);
      const { code, found } = await doctor(system.url);
      expect({ code, bad: bad(found) }).toEqual({ code: 0, bad: [] });
    },
  );
});

describe('one stream of a backup', () => {
  it('a DISPATCH stream that is restored alone keeps services from starting, and the doctor says that they do not answer', async () => {
    const session = newSession('behind');
    await using server = await startTestNats();
    const folder = await folderOfTest();
    for (const [round, first] of [1, 21].entries()) {
      await using system = await startSystem({ nats: server, env });
      await publish(system, session, 20, first);
      await allDealtWith(system.ports);
      if (round === 0) await shell(server, folder, backup(DISPATCH_STREAM));
    }
    {
      // The keeper records the newest number at its start.
      await using system = await startSystem({ nats: server, env });
      await soon(async () => expect(await system.ports.numbers.highest()).toBe(40));
    }
    await shell(server, folder, replace(DISPATCH_STREAM));
    expect(await cli(['admin', 'serve'], { env: { NATS_URL: server.url } })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /stream DISPATCH is at 20, but the installation has given 40: .*restore all streams of one backup/,
      ),
    });
    const { code, found } = await doctor(server.url);
    expect({ code, messages: bad(found).map(({ message }) => message) }).toMatchObject({
      code: 1,
      messages: expect.arrayContaining(['no instance answers']),
    });
  });

  it('the stream of a session that is restored behind its snapshot takes no events, and fails the doctor', async () => {
    const session = newSession('early');
    await using server = await startTestNats();
    const folder = await folderOfTest();
    {
      await using system = await startSystem({ nats: server, env });
      await publish(system, session, 20);
      await allDealtWith(system.ports);
      await shell(server, folder, backup(streamOf(PER_SESSION, session)));
      await publish(system, session, 30, 21);
      await allDealtWith(system.ports);
      await writeSnapshot(server.url, session);
      await shell(server, folder, replace(streamOf(PER_SESSION, session)));
    }
    await using system = await startSystem({ nats: server, env });
    await expect(system.client.tools.taskAdd({ session, content: 'x' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('restore all streams of one backup'),
    });
  });
});

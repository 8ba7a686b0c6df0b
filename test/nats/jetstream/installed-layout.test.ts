import { StorageType } from 'nats';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  LAYOUT_SUBJECT,
  PER_SESSION,
  type SessionLayout,
  sessionStream,
  shardOf,
  shardStream,
} from '../../../src/contracts/names.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { streamFindings } from '../../../src/nats/doctor/stream-findings.js';
import type { WantedLayout } from '../../../src/nats/jetstream/layout-record.js';
import type { NatsOptions } from '../../../src/nats/open-nats.js';
import { newSession, openPorts } from '../../engine/ports/opened.js';
import { implementer, recorded } from '../../support/builders.js';
import { of } from '../../support/doctor.js';
import { startPrivateNats } from '../../support/nats-server.js';
import { ofFile } from '../../support/of-file.js';

const SHARDED: SessionLayout = { layout: 'sharded', shards: 8 };
const wrong = (...parts: string[]) => ({
  code: 'config_invalid',
  message: expect.stringMatching(new RegExp(parts.join('.*'))),
});

/** One account per test: accounts of one server see nothing of each other. */
const ACCOUNTS = Array.from({ length: 30 }, (_, index) => `a${index}`);
const extraConfig = `accounts {
${ACCOUNTS.map((name) => `${name} { jetstream: enabled, users: [{ user: ${name}, password: secret }] }`).join('\n')}
}`;

let url: string;
const nats = await ofFile(startPrivateNats({ extraConfig }));
beforeEach(() => {
  url = nats.url.replace('nats://', `nats://${ACCOUNTS.pop()}:secret@`);
});

const open = (wanted?: WantedLayout, options: Partial<NatsOptions> = {}) =>
  openPorts(url, { ...options, ...(wanted && { wanted }) });
async function layoutFor(wanted?: WantedLayout, options?: Partial<NatsOptions>): Promise<SessionLayout> {
  const ports = await open(wanted, options);
  await ports.close();
  return ports.layout;
}

describe('a new installation', () => {
  it('a new installation has a stream per session unless the settings say otherwise', async () => {
    expect(await layoutFor()).toEqual(PER_SESSION);
    expect(await layoutFor({ layout: 'per-session' })).toEqual(PER_SESSION);
  });

  it('a new installation keeps the layout that it was given, for processes without settings too', async () => {
    expect(await layoutFor({ layout: 'sharded', shards: 8 })).toEqual(SHARDED);
    expect(await layoutFor()).toEqual(SHARDED);
    expect(await layoutFor({ layout: 'sharded' }, { makes: false })).toEqual(SHARDED);
  });

  it('a new installation has 64 shards where the settings name no number', async () => {
    expect(await layoutFor({ layout: 'sharded' })).toEqual({ layout: 'sharded', shards: 64 });
  });

  it('an installation with more than 2,000 streams of sessions says how to move to shards, and so does the doctor', async () => {
    const move = /move to shards.*export.*THROUGHLINE_LAYOUT=sharded/;
    const lines: unknown[] = [];
    const logger = { ...silentLogger, warn: (_: object, line: string) => void lines.push(line) };
    const ports = await open();
    const jsm = await ports.connection.jetstreamManager();
    const session = (n: number) => ({ name: `SESSION_s${n}`, subjects: [`session.s${n}.>`] });
    const streams = [
      { name: 'OTHER', subjects: ['other'] },
      ...Array.from({ length: 2000 }, (_, n) => session(n)),
    ];
    while (streams.length > 0)
      await Promise.all(
        streams.splice(0, 100).map((stream) => jsm.streams.add({ ...stream, storage: StorageType.Memory })),
      );
    const started = async () => (await open(undefined, { logger })).close();
    const examined = async () => of(await streamFindings(jsm, 1), 'sessions').map(({ fix }) => fix);
    await started();
    expect(lines).toEqual([]);
    expect(await examined()).not.toContainEqual(expect.stringMatching(move));
    await jsm.streams.add({ ...session(2000), storage: StorageType.Memory });
    await started();
    expect(lines).toEqual([expect.stringMatching(move)]);
    expect(await examined()).toContainEqual(expect.stringMatching(move));
    await ports.close();
  });

  it('a new installation gets one layout, however many processes start at once with others', async () => {
    const wanted: WantedLayout[] = [
      { layout: 'per-session' },
      { layout: 'sharded', shards: 8 },
      { layout: 'sharded', shards: 16 },
    ];
    const started = await Promise.allSettled([...wanted, ...wanted].map((each) => layoutFor(each)));
    const found = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(await layoutFor()).toEqual(found[0]);
  });

  it('a process that only looks at a new installation records no layout', async () => {
    expect(await layoutFor({ layout: 'sharded' }, { makes: false })).toEqual({
      layout: 'sharded',
      shards: 64,
    });
    expect(await layoutFor()).toEqual(PER_SESSION);
  });
});

describe('a process that is set to another layout', () => {
  it.each<[string, WantedLayout, WantedLayout, string[]]>([
    ['sharded on streams', {}, { layout: 'sharded' }, ['is sharded', 'has a stream per session']],
    ['streams on shards', SHARDED, { layout: 'per-session' }, ['is per-session', 'has sessions in 8 shards']],
    ['more shards', SHARDED, { layout: 'sharded', shards: 16 }, ['is sharded:16', 'in 8 shards', 'leave it']],
  ])('a process that is set to another layout does not start: %s', async (_, first, second, parts) => {
    await layoutFor(first);
    await expect(layoutFor(second)).rejects.toMatchObject(wrong(...parts));
    await expect(layoutFor(second, { makes: false })).rejects.toMatchObject(wrong(...parts));
  });
});

describe('an installation without a record', () => {
  const forget = async () => {
    const ports = await open();
    await (await ports.connection.jetstreamManager()).streams.delete('KV_throughline');
    await ports.close();
  };

  it.each([
    ['a stream per session', {}, PER_SESSION],
    ['shards', SHARDED, SHARDED],
  ] as const)(
    'an installation without a record has the layout of its streams: %s',
    async (_, wanted, has) => {
      const session = newSession('kept');
      const ports = await open(wanted);
      await ports.log.append(session, recorded(1, implementer()));
      const jsm = await ports.connection.jetstreamManager();
      await jsm.streams.info(has === PER_SESSION ? sessionStream(session) : shardStream(shardOf(session, 8)));
      await ports.close();
      await forget();
      expect(await layoutFor()).toEqual(has);
    },
  );
});

describe('the record of the layout', () => {
  it('the record of the layout cannot be replaced by what someone sends there', async () => {
    const ports = await open({ layout: 'sharded', shards: 8 });
    const answer = await ports.connection.request(LAYOUT_SUBJECT, '{"layout":"per-session"}');
    expect(answer.json()).toMatchObject({ error: { description: expect.any(String) } });
    await ports.close();
    expect(await layoutFor()).toEqual(SHARDED);
  });

  it.each(['{"v":2,"layout":"spiral"}', '{"layout":"per-session"}'])(
    'the record of the layout is refused where this version does not know it: %s',
    async (record) => {
      const ports = await open();
      const jsm = await ports.connection.jetstreamManager();
      await jsm.streams.purge('KV_throughline');
      await ports.connection.request(LAYOUT_SUBJECT, record);
      await ports.close();
      await expect(layoutFor()).rejects.toMatchObject(
        wrong('another version of Throughline', 'throughline down.*rm -r'),
      );
    },
  );
});

import { type JetStreamManager, StorageType } from 'nats';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { connectNats } from '../../../src/nats/connection/connect-nats.js';
import { AckedPublisher } from '../../../src/nats/jetstream/acked-publisher.js';
import { readStream } from '../../../src/nats/jetstream/direct-get.js';
import { eraseMessages, rewriteStream } from '../../../src/nats/jetstream/erase-messages.js';
import { startTestNats } from '../../support/nats-server.js';
import { ofFile } from '../../support/of-file.js';
import { filesHolding } from '../../support/store-files.js';

const nats = await ofFile(startTestNats());
const connection = await ofFile(connectNats({ url: nats.url, name: 'test', logger: silentLogger }));
const jsm = await connection.jetstreamManager({ checkAPI: false });
const publisher = await ofFile(new AckedPublisher(connection, 5000));
const ports = { connection, jsm, publisher, timeoutMs: 5000 };

const PADDING = 'p'.repeat(1000);

/** Creates a stream with messages on these subjects, in this order. */
async function filled(name: string, sessions: readonly string[], padding = PADDING): Promise<void> {
  await jsm.streams.add({ name, subjects: [`${name}.*`], storage: StorageType.File, allow_direct: true });
  const body = (session: string, at: number) => `${session}-canary ${at} ${padding}`;
  await Promise.all(
    sessions.map((session, at) =>
      publisher.publish(`${name}.${session}`, body(session, at), { stream: name }),
    ),
  );
}

describe('messages that are erased', () => {
  test('are in no file of the stream, and their neighbours are as they were', async () => {
    await filled(
      'mixed',
      Array.from({ length: 60 }, (_, at) => (at % 3 === 0 ? 'gone' : 'kept')),
    );
    expect(await filesHolding(nats.storeDir, 'gone-canary')).toHaveLength(1);
    const before = await jsm.streams.getMessage('mixed', { seq: 2 });

    expect(await eraseMessages(ports, 'mixed', 'mixed.gone')).toBe(20);

    expect(await filesHolding(nats.storeDir, 'gone-canary')).toEqual([]);
    expect((await jsm.streams.info('mixed')).state.messages).toBe(40);
    expect(await jsm.streams.getMessage('mixed', { seq: 2 })).toEqual(before);
  });

  test('are those up to a sequence, where one is given', async () => {
    await filled('until', ['gone', 'gone', 'gone']);

    expect(await eraseMessages(ports, 'until', 'until.gone', { through: 2 })).toBe(2);

    expect((await jsm.streams.info('until')).state.messages).toBe(1);
    await jsm.streams.delete('until');
  });

  test('are left where it may not go on', async () => {
    await filled('stopped', ['gone', 'gone', 'gone', 'gone']);
    let asked = 0;

    const erasing = eraseMessages(ports, 'stopped', 'stopped.gone', {
      mayGoOn() {
        asked += 1;
        if (asked > 2) throw new Error('another one goes on');
      },
    });

    await expect(erasing).rejects.toThrow('another one goes on');
    expect((await jsm.streams.info('stopped')).state.messages).toBe(2);
    await jsm.streams.delete('stopped');
  });

  test('are none in a stream that is not there', async () => {
    expect(await eraseMessages(ports, 'nothing', 'nothing.>')).toBe(0);
  });

  test('are looked for until the leader of the stream holds none, since a replica shows the newest later', async () => {
    await filled('late', ['gone', 'gone', 'gone']);
    const led = (getMessage: JetStreamManager['streams']['getMessage']) => {
      const { streams } = jsm;
      const deleteMessage = streams.deleteMessage.bind(streams);
      return { ...ports, jsm: { streams: { deleteMessage, getMessage } } as unknown as JetStreamManager };
    };
    let isShown = false;
    const erased = await eraseMessages(
      led(async (...query) => {
        if (!isShown) await publisher.publish('late.gone', 'not shown until now', { stream: 'late' });
        isShown = true;
        return jsm.streams.getMessage(...query);
      }),
      'late',
      'late.gone',
    );
    expect([erased, (await jsm.streams.info('late')).state.messages]).toEqual([4, 0]);

    await jsm.streams.delete('late');
  });
});

describe('a bucket that is written again', () => {
  test('holds its newest values and nothing else', async () => {
    const bucket = await connection.jetstream({ checkAPI: false }).views.kv('values', { history: 5 });
    for (let at = 0; at < 20; at += 1) {
      await bucket.put('gone', `gone-canary ${at} ${PADDING}`);
      await bucket.put('kept', `kept-canary ${at} ${PADDING}`);
    }
    await bucket.put('deleted', 'something');
    await bucket.delete('deleted');
    await jsm.streams.purge('KV_values', { filter: '$KV.values.gone' });
    expect(await filesHolding(nats.storeDir, 'gone-canary')).toHaveLength(1);

    await rewriteStream(ports, 'KV_values');

    expect(await filesHolding(nats.storeDir, 'gone-canary')).toEqual([]);
    expect(await filesHolding(nats.storeDir, 'kept-canary 18')).toEqual([]);
    expect((await bucket.get('kept'))?.string()).toBe(`kept-canary 19 ${PADDING}`);
    expect((await bucket.get('deleted'))?.operation).toBe('DEL');
    expect((await jsm.streams.info('KV_values')).state.messages).toBe(2);
  });

  test('goes on taking values meanwhile, and loses none', async () => {
    const bucket = await connection.jetstream({ checkAPI: false }).views.kv('busy', { history: 5 });
    for (let key = 0; key < 50; key += 1) await bucket.put(`key-${key}`, `0 ${PADDING}`);
    let isOver = false;
    const written = new Map<string, number>();
    const writing = (async () => {
      for (let value = 1; !isOver; value += 1) {
        const key = `key-${value % 50}`;
        await bucket.put(key, `${value} ${PADDING}`);
        written.set(key, value);
      }
    })();

    for (let round = 0; round < 3; round += 1) await rewriteStream(ports, 'KV_busy');
    isOver = true;
    await writing;

    expect(written.size).toBeGreaterThan(0);
    for (let key = 0; key < 50; key += 1) {
      const value = (await bucket.get(`key-${key}`))?.string();
      expect(value).toBe(`${written.get(`key-${key}`) ?? 0} ${PADDING}`);
    }
  });

  test('keeps all messages of a subject in their order, where all of them count', async () => {
    await filled('ring', ['gone', 'one', 'other', 'one', 'gone', 'other', 'one']);
    await eraseMessages(ports, 'ring', 'ring.gone');

    await rewriteStream(ports, 'ring');

    const messages = await readStream({ connection, stream: 'ring', timeoutMs: 5000 }, 'ring.one', {
      from: 1,
    });
    const bodies = messages.map(({ data }) => new TextDecoder().decode(data).slice(0, 12));
    expect(bodies).toEqual(['one-canary 1', 'one-canary 3', 'one-canary 6']);
  });

  test('is left alone where it is not there', async () => {
    await rewriteStream(ports, 'KV_none');
    await expect(jsm.streams.info('KV_none')).rejects.toThrow();
  });
});

import { headers } from 'nats';
import { describe, expect, it } from 'vitest';
import { batchesOf, readStream, readTail } from '../../../src/nats/jetstream/direct-get.js';
import { startNatsPorts } from '../../engine/ports/opened.js';
import { ofFile } from '../../support/of-file.js';

const nats = await ofFile(startNatsPorts());
const connection = nats.connection;
const jsm = await connection.jetstreamManager();
await jsm.streams.add({ name: 'S', subjects: ['s.>'], allow_direct: true });
await jsm.streams.add({ name: 'EMPTY', subjects: ['empty.>'], allow_direct: true });
await jsm.streams.add({ name: 'BURST', subjects: ['burst.>'], allow_direct: true });
await jsm.streams.add({ name: 'RANGE', subjects: ['range.>'], allow_direct: true });
await jsm.streams.add({ name: 'LARGE', subjects: ['large.>'], allow_direct: true });
await jsm.streams.add({ name: 'CLOSED', subjects: ['closed.>'], allow_direct: false });

const read = async (stream: string, filter: string, range: { from: number; through?: number }) =>
  (await readStream({ connection, stream, timeoutMs: 5000 }, filter, range)).map(({ sequence }) => sequence);

describe('readStream', () => {
  it('readStream goes on after messages without a payload, with and without headers', async () => {
    const js = connection.jetstream();
    const head = headers();
    head.set('Colour', 'blue');
    await js.publish('s.a', 'first');
    await js.publish('s.a', '');
    await js.publish('s.b', '', { headers: head });
    await js.publish('s.a', 'last');
    const found = await readStream({ connection, stream: 'S', timeoutMs: 5000 }, 's.>', { from: 1 });
    expect(
      found.map(({ data, headers: _, ...rest }) => ({ ...rest, text: Buffer.from(data).toString() })),
    ).toEqual([
      { sequence: 1, subject: 's.a', text: 'first' },
      { sequence: 2, subject: 's.a', text: '' },
      { sequence: 3, subject: 's.b', text: '' },
      { sequence: 4, subject: 's.a', text: 'last' },
    ]);
  });

  it('readStream keeps to its range and its filter', async () => {
    expect(await read('S', 's.>', { from: 2, through: 3 })).toEqual([2, 3]);
    expect(await read('S', 's.b', { from: 1 })).toEqual([3]);
    expect(await read('S', 's.>', { from: 4, through: 3 })).toEqual([]);
  });

  it('readStream has the server send no more than its range can hold', async () => {
    const js = connection.jetstream();
    for (let each = 0; each < 50; each += 1) await js.publish('range.a', 'x');
    const before = connection.stats().inMsgs;
    expect(await read('RANGE', 'range.>', { from: 10, through: 12 })).toEqual([10, 11, 12]);
    expect(connection.stats().inMsgs - before).toBeLessThanOrEqual(4);
  });

  it('three hundred reads at once do not make the server cut the connection off', async () => {
    const js = connection.jetstream();
    for (let each = 0; each < 100; each += 1) await js.publish('burst.a', 'x'.repeat(20_000));
    const before = await connection.rtt().then(() => connection.info?.client_id);
    const reads = await Promise.all(Array.from({ length: 300 }, () => read('BURST', 'burst.>', { from: 1 })));
    expect(reads.every(({ length }) => length === 100)).toBe(true);
    expect(connection.info?.client_id).toBe(before);
  });

  it('readStream gives nothing where nothing is: past the end, of another subject, of an empty or a missing stream', async () => {
    expect(await read('S', 's.>', { from: 5 })).toEqual([]);
    expect(await read('S', 's.none', { from: 1 })).toEqual([]);
    expect(await read('EMPTY', 'empty.>', { from: 1 })).toEqual([]);
    expect(await read('MISSING', 'missing.>', { from: 1 })).toEqual([]);
  });

  it('readStream ends where events come in as fast as it reads: it reads what was stored when it began', async () => {
    await connection
      .jetstreamManager()
      .then((jsm) => jsm.streams.add({ name: 'FAST', subjects: ['fast.>'], allow_direct: true }));
    const js = connection.jetstream();
    const publish = () => Promise.all(Array.from({ length: 1500 }, () => js.publish('fast.x', 'x')));
    await publish();
    let read = 0;
    for await (const messages of batchesOf({ connection, stream: 'FAST', timeoutMs: 20_000 }, 'fast.>', 1)) {
      read += messages.length;
      await publish();
    }
    expect(read).toBe(1500);
  });

  it('readTail gives the messages of some subjects in a range, or nothing', async () => {
    const tail = async (
      stream: string,
      filter: string,
      range: { from: number; through?: number; limit?: number },
    ) =>
      (await readTail({ connection, stream, timeoutMs: 5000 }, filter, range)).map(
        ({ sequence }) => sequence,
      );
    expect(await tail('S', 's.b', { from: 1 })).toEqual([3]);
    expect(await tail('S', 's.>', { from: 2 })).toEqual([2, 3, 4]);
    expect(await tail('S', 's.>', { from: 2, through: 3 })).toEqual([2, 3]);
    expect(await tail('S', 's.>', { from: 2, limit: 1 })).toEqual([2]);
    expect(await tail('S', 's.b', { from: 1, through: 2 })).toEqual([]);
    expect(await tail('S', 's.b', { from: 4 })).toEqual([]);
    expect(await tail('EMPTY', 'empty.>', { from: 1 })).toEqual([]);
  });

  it('readStream goes on when the server ends a batch early because of its size', async () => {
    const js = connection.jetstream();
    const body = new Uint8Array(1024 * 1024 - 1024);
    for (let index = 0; index < 80; index += 1) await js.publish('large.x', body);
    const found = await readStream({ connection, stream: 'LARGE', timeoutMs: 20_000 }, 'large.>', {
      from: 1,
    });
    expect(found.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 80 }, (_, index) => index + 1),
    );
  });

  it('readStream reads the same stream many times at once', async () => {
    const reads = await Promise.all(Array.from({ length: 100 }, () => read('S', 's.>', { from: 1 })));
    for (const each of reads) expect(each).toEqual([1, 2, 3, 4]);
  });

  it('readStream fails with unavailable when the server stops answering', async () => {
    const silent = connection.subscribe('$JS.API.DIRECT.GET.SILENT', { callback: () => {} });
    const reading = readStream({ connection, stream: 'SILENT', timeoutMs: 50 }, 's.>', { from: 1 });
    await expect(reading).rejects.toMatchObject({ code: 'unavailable' });
    silent.unsubscribe();
  });

  it('readStream fails with internal when the answer has an unexpected status', async () => {
    const strange = connection.subscribe('$JS.API.DIRECT.GET.STRANGE', {
      callback: (_, message) => message.respond('', { headers: headers(408, 'Bad Request') }),
    });
    const reading = readStream({ connection, stream: 'STRANGE', timeoutMs: 5000 }, 's.>', { from: 1 });
    await expect(reading).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('408'),
    });
    strange.unsubscribe();
  });
});

import { randomBytes } from 'node:crypto';
import { headers } from 'nats';
import { describe, expect, it } from 'vitest';
import { restoreStream, snapshotStream } from '../../../src/nats/backup/stream-transfer.js';
import { readStream } from '../../../src/nats/jetstream/direct-get.js';
import { plainConnection, startTestNats } from '../../support/nats-server.js';
import { ofFile } from '../../support/of-file.js';

/** More than one flow-control window, in incompressible messages. */
const MESSAGES = 120;
const BODY_BYTES = 50_000;

const server = await ofFile(startTestNats());
const connection = await ofFile(plainConnection(server.url));
const jsm = await connection.jetstreamManager();

async function filled(name: string): Promise<void> {
  await jsm.streams.add({ name, subjects: [`${name}.*`], allow_direct: true });
  const js = connection.jetstream();
  const publishing = Array.from({ length: MESSAGES }, (_, index) => {
    const head = headers();
    head.set('Place', String(index));
    return js.publish(`${name}.${index % 3}`, randomBytes(BODY_BYTES), { headers: head });
  });
  await Promise.all(publishing);
  // Gaps, and a removed tail.
  for (const sequence of [5, 6, MESSAGES]) await jsm.streams.deleteMessage(name, sequence);
}

async function seen(name: string) {
  const { config, state } = await jsm.streams.info(name);
  const messages = await readStream({ connection, stream: name, timeoutMs: 5000 }, '>', { from: 1 });
  return {
    config,
    last: state.last_seq,
    count: state.messages,
    messages: messages.map(({ sequence, subject, data, headers: head }) => {
      const lines = ['Place', 'Nats-Time-Stamp'].map((key) => head?.get(key));
      return { sequence, subject, lines, body: Buffer.from(data).toString('base64') };
    }),
  };
}

async function copyOf(name: string) {
  const pieces: Uint8Array[] = [];
  const copied = await snapshotStream(connection, name, async (piece) => {
    pieces.push(piece);
  });
  if (copied === undefined) throw new Error(`no stream ${name}`);
  return { ...copied, pieces };
}

async function* from(pieces: readonly Uint8Array[]) {
  yield* pieces;
}

describe('a copy of a stream', () => {
  it('a stream that is copied and restored has the same messages, sequences, times and headers', async () => {
    await filled('WHOLE');
    const before = await seen('WHOLE');
    const { pieces, ...copied } = await copyOf('WHOLE');
    expect(copied.state).toMatchObject({ last_seq: MESSAGES, messages: MESSAGES - 3 });
    await jsm.streams.delete('WHOLE');
    const state = await restoreStream(connection, copied, from(pieces));
    expect(state).toMatchObject({ last_seq: MESSAGES, messages: MESSAGES - 3 });
    expect(await seen('WHOLE')).toEqual(before);
    expect((await connection.jetstream().publish('WHOLE.1')).seq).toBe(MESSAGES + 1);
  });

  it('of many short streams each is copied, though some copies are there before their description', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `SHORT_${index}`);
    for (const name of names) await jsm.streams.add({ name, subjects: [`${name}.*`] });
    for (const name of names) expect((await copyOf(name)).state).toMatchObject({ messages: 0 });
  });

  it('a stream that is not there gives no copy', async () => {
    expect(await snapshotStream(connection, 'NOWHERE', async () => {})).toBeUndefined();
  });

  it('what cannot be written ends the copy with its own error', async () => {
    await filled('UNWRITTEN');
    const full = snapshotStream(connection, 'UNWRITTEN', () => Promise.reject(new Error('disk full')));
    await expect(full).rejects.toThrow('disk full');
  });

  it('a copy that is cut off or is none is refused with the name of its stream', async () => {
    await filled('CUT');
    const { pieces, ...copied } = await copyOf('CUT');
    for (const damaged of [pieces.slice(0, -1), [Buffer.from('no copy at all')], []]) {
      await jsm.streams.delete('CUT').catch(() => undefined);
      await expect(restoreStream(connection, copied, from(damaged))).rejects.toMatchObject({
        message: expect.stringContaining('restoring stream CUT'),
      });
    }
  });

  it('a stream that is there already is not restored over', async () => {
    await filled('THERE');
    const { pieces, ...copied } = await copyOf('THERE');
    await expect(restoreStream(connection, copied, from(pieces))).rejects.toMatchObject({
      message: expect.stringContaining('restoring stream THERE'),
    });
  });
});

import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SNAPSHOT_BUCKET, type Token } from '../../../src/contracts/names.js';
import type { StoredSnapshot } from '../../../src/engine/ports/session-log.js';
import { startFaultyServer } from '../../support/faults/server.js';
import { ofFile } from '../../support/of-file.js';
import * as fc from '../../support/properties.js';
import { newSession, openPorts, startPrivatePorts, withOther } from './opened.js';

const MAX_PAYLOAD = 32 * 1024;
/** Payload of a message of that size, without subject and headers. */
const MAX_BYTES = MAX_PAYLOAD - 4096;

describe('on NATS', async () => {
  const started = await ofFile(startPrivatePorts({ maxPayloadBytes: MAX_PAYLOAD }));
  const { nats, other } = await withOther(started);
  const kv = await nats.connection.jetstream().views.kv(SNAPSHOT_BUCKET, { bindOnly: true });

  const save = (session: Token, sequence: number, rest?: string) =>
    nats.snapshots.save(session, snapshot(sequence, rest));

  it('the snapshot store holds nothing for a session without a snapshot', async () => {
    const session = newSession();
    expect(await nats.snapshots.load(session)).toBeUndefined();
    expect(await nats.snapshots.loadAtOrBefore(session, 1000)).toBeUndefined();
  });

  it('the snapshot store gives back the newest snapshot, to every reader and for its session alone', async () => {
    const [session, another] = [newSession(), newSession()];
    expect(await save(session, 10)).toBe('saved');
    expect(await save(session, 20)).toBe('saved');
    expect(await save(another, 7)).toBe('saved');
    expect(await nats.snapshots.load(session)).toEqual(snapshot(20));
    expect(await other.snapshots.load(session)).toEqual(snapshot(20));
    expect(await nats.snapshots.load(another)).toEqual(snapshot(7));
  });

  it.each([19, 20])(
    'the snapshot store refuses sequence %i when it holds a snapshot at 20',
    async (sequence) => {
      const session = newSession();
      await save(session, 20);
      expect(await save(session, sequence, 'another text')).toBe('older');
      expect(await other.snapshots.save(session, snapshot(sequence, 'another text'))).toBe('older');
      expect(await nats.snapshots.load(session)).toEqual(snapshot(20));
    },
  );

  it('the snapshot store gives the text of a snapshot back byte for byte', async () => {
    const session = newSession();
    let sequence = 0;
    const roundTrip = async (rest: string) => {
      sequence += 1;
      const saved = snapshot(sequence, rest);
      expect(await nats.snapshots.save(session, saved)).toBe('saved');
      expect(await other.snapshots.load(session)).toEqual(saved);
    };
    await roundTrip('\u0000 \ufeff \u2028 \r\n " \\ é 😀 ﷽');
    await roundTrip('x'.repeat(MAX_BYTES - 100));
    const texts = fc.string({ unit: 'grapheme', maxLength: 50 });
    await fc.assert(fc.asyncProperty(texts, roundTrip), { numRuns: 50 });
  });

  it('the snapshots of a key never go backwards when many write at once, and end with the highest', async () => {
    const sequences = fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { minLength: 20, maxLength: 20 });
    const written = fc.asyncProperty(sequences, async (all) => {
      const session = newSession();
      const seen: number[] = [];
      const saves = all.map((sequence, index) =>
        (index % 2 === 0 ? nats.snapshots : other.snapshots).save(session, snapshot(sequence)),
      );
      const saved = Promise.all(saves).then(() => true);
      do seen.push((await other.snapshots.load(session))?.sequence ?? 0);
      while (!(await Promise.race([saved, other.snapshots.load(session).then(() => false)])));
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      expect(await nats.snapshots.load(session)).toEqual(snapshot(Math.max(...all)));
    });
    await fc.assert(written, { numRuns: 8, endOnFailure: true });
  });

  it('the snapshot store saves each of many snapshots that come at once in rising order', async () => {
    const session = newSession();
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, index) => save(session, index + 1)));
    expect(outcomes.at(-1)).toBe('saved');
    expect(await nats.snapshots.load(session)).toEqual(snapshot(40));
  });

  it('the snapshot store finds older snapshots among the newest five, which it keeps', async () => {
    const session = newSession();
    for (const sequence of [10, 20, 30, 40, 50, 60]) await save(session, sequence);
    const at = async (sequence: number) => (await nats.snapshots.loadAtOrBefore(session, sequence))?.sequence;
    expect(await at(1000)).toBe(60);
    expect(await at(60)).toBe(60);
    expect(await at(59)).toBe(50);
    expect(await at(40)).toBe(40);
    expect(await at(39)).toBe(30);
    expect(await at(20)).toBe(20);
    expect(await at(19)).toBeUndefined();
    expect(await nats.snapshots.loadAtOrBefore(session, 45)).toEqual(snapshot(40));
  });

  it('the snapshot store says so when a text is too large, and keeps what it holds', async () => {
    const session = newSession();
    await save(session, 10);
    const text = `${snapshot(20).text}${noise(MAX_BYTES)}`;
    expect(await nats.snapshots.save(session, { sequence: 20, text })).toBe('too_large');
    // The limit is in bytes, not characters.
    const wide = `${snapshot(20).text}${wideNoise(MAX_BYTES / 2)}`;
    expect(await nats.snapshots.save(session, { sequence: 20, text: wide })).toBe('too_large');
    expect(await nats.snapshots.load(session)).toEqual(snapshot(10));
    expect(await save(session, 20)).toBe('saved');
  });

  it.each(['', 'no snapshot', '{"v":9}', '[]', 'null'])(
    'the snapshot store passes over a damaged value: %j',
    async (text) => {
      const session = newSession();
      await save(session, 10);
      await save(session, 20);
      await kv.put(session, text);
      expect(await nats.snapshots.load(session)).toEqual(snapshot(20));
      expect(await nats.snapshots.loadAtOrBefore(session, 15)).toEqual(snapshot(10));
      expect(await save(session, 20)).toBe('older');
      expect(await other.snapshots.save(session, snapshot(5))).toBe('older');
      expect(await save(session, 30)).toBe('saved');
      expect(await other.snapshots.load(session)).toEqual(snapshot(30));
    },
  );

  it('the snapshot store goes on where nothing but damaged values is left', async () => {
    const session = newSession();
    await save(session, 20);
    for (let at = 0; at < 5; at += 1) await kv.put(session, `no snapshot ${at}`);
    expect(await nats.snapshots.load(session)).toBeUndefined();
    expect(await nats.snapshots.loadAtOrBefore(session, 1000)).toBeUndefined();
    expect(await other.snapshots.save(session, snapshot(21))).toBe('saved');
    expect(await nats.snapshots.load(session)).toEqual(snapshot(21));
  });

  it('the snapshot store on NATS waits no longer for an answer than is configured, whatever it asks for', async () => {
    await using server = await startFaultyServer();
    const ports = await openPorts(server.url, { requestTimeoutMs: 1000 });
    const session = newSession('slow');
    await ports.snapshots.save(session, { sequence: 7, text: '{"after_sequence":7,"v":1}' });
    await server.freeze();
    const later = { sequence: 8, text: '{"after_sequence":8,"v":1}' };
    for (const ask of [
      () => ports.snapshots.load(session),
      () => ports.snapshots.loadAtOrBefore(session, 3),
      () => ports.snapshots.save(session, later),
    ]) {
      const begun = performance.now();
      await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
      // The default would take five seconds.
      expect(performance.now() - begun).toBeLessThan(4900);
    }
    server.thaw();
    await ports.close();
  });

  it('the snapshot store on NATS packs a text that would not fit one message, and gives it back as it was', async () => {
    const session = newSession('large');
    const text = `{"after_sequence":7,"v":1,"state":"${'word '.repeat(MAX_PAYLOAD)}"}`;
    expect(await nats.snapshots.save(session, { sequence: 7, text })).toBe('saved');
    expect(await other.snapshots.load(session)).toEqual({ sequence: 7, text });
    expect(await other.snapshots.loadAtOrBefore(session, 9)).toEqual({ sequence: 7, text });
    const stored = (await kv.get(session))?.string() ?? '';
    expect(stored).toMatch(/^\{"after_sequence":7,"gzip":"/);
    expect(stored.length).toBeLessThan(MAX_BYTES);
    // Compare-and-set still works.
    expect(await other.snapshots.save(session, { sequence: 7, text })).toBe('older');
    expect(await other.snapshots.save(session, { sequence: 8, text: '{"after_sequence":8}' })).toBe('saved');
  });

  it('the snapshot store on NATS keeps the snapshots of a session and of a project of the same name apart', async () => {
    const name = newSession('both');
    await nats.snapshots.save(name, { sequence: 3, text: '{"after_sequence":3,"v":1}' });
    expect(await nats.learningSnapshots.load(name)).toBeUndefined();
    await nats.learningSnapshots.save(name, snapshot(7));
    expect(await other.learningSnapshots.load(name)).toEqual(snapshot(7));
    expect(await other.snapshots.load(name)).toMatchObject({ sequence: 3 });
  });

  it('the snapshot store on NATS keeps each snapshot as the value of a key that is named like its session', async () => {
    const session = newSession('key');
    await nats.snapshots.save(session, { sequence: 3, text: '{"after_sequence":3,"v":1}' });
    expect((await kv.get(session))?.string()).toBe('{"after_sequence":3,"v":1}');
    expect((await kv.status()).history).toBe(5);
  });

  it.each(['delete', 'purge'] as const)(
    'the snapshot store on NATS starts over after a %s',
    async (remove) => {
      const session = newSession(remove);
      await nats.snapshots.save(session, { sequence: 30, text: '{"after_sequence":30,"v":1}' });
      await kv[remove](session);
      expect(await nats.snapshots.load(session)).toBeUndefined();
      const again = { sequence: 3, text: '{"after_sequence":3,"v":1}' };
      expect(await other.snapshots.save(session, again)).toBe('saved');
      expect(await nats.snapshots.load(session)).toEqual(again);
      expect(await nats.snapshots.loadAtOrBefore(session, 3)).toEqual(again);
    },
  );

  it('the snapshot store on NATS is unavailable on a closed connection', async () => {
    const ports = await openPorts(nats.server.url);
    await ports.close();
    const unavailable = expect.objectContaining({ code: 'unavailable' });
    const session = newSession('closed');
    await expect(ports.snapshots.load(session)).rejects.toEqual(unavailable);
    await expect(ports.snapshots.loadAtOrBefore(session, 1)).rejects.toEqual(unavailable);
    await expect(ports.snapshots.save(session, { sequence: 1, text: '{}' })).rejects.toEqual(unavailable);
  });
});

function noise(length: number): string {
  return randomBytes(length).toString('base64').slice(0, length);
}

function wideNoise(length: number): string {
  return [...randomBytes(length * 2).toString('ucs2')]
    .map((character) => String.fromCharCode(0x1000 + ((character.codePointAt(0) ?? 0) % 0xc000)))
    .join('');
}

/** Returns a text like that of a snapshot, which begins with the sequence. */
function snapshot(sequence: number, rest = 'state'): StoredSnapshot {
  return { sequence, text: `{"after_sequence":${sequence},"rest":${JSON.stringify(rest)}}` };
}

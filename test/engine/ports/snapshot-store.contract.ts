import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Token } from '../../../src/contracts/names.js';
import type { SnapshotStore, StoredSnapshot } from '../../../src/engine/ports/session-log.js';
import * as fc from '../../support/properties.js';
import { newSession } from './opened.js';

/** A snapshot store and operations that only its opener can do. */
export interface OpenedSnapshotStore {
  readonly store: SnapshotStore;
  /** The same store in another process. */
  readonly other: SnapshotStore;
  /** Maximum text size in bytes. */
  readonly maxBytes: number;
  /** Replaces a session's newest snapshot with any text. */
  damaged(session: Token, text: string): Promise<unknown>;
}

/** The contract of `src/engine/ports/snapshot-store.ts`. */
export function snapshotStoreContract(name: string, opened: OpenedSnapshotStore): void {
  describe(`the snapshot store, ${name}`, () => {
    const save = (session: Token, sequence: number, rest?: string) =>
      opened.store.save(session, snapshot(sequence, rest));

    it('the snapshot store holds nothing for a session without a snapshot', async () => {
      const session = newSession();
      expect(await opened.store.load(session)).toBeUndefined();
      expect(await opened.store.loadAtOrBefore(session, 1000)).toBeUndefined();
    });

    it('the snapshot store gives back the newest snapshot, to every reader and for its session alone', async () => {
      const [session, another] = [newSession(), newSession()];
      expect(await save(session, 10)).toBe('saved');
      expect(await save(session, 20)).toBe('saved');
      expect(await save(another, 7)).toBe('saved');
      expect(await opened.store.load(session)).toEqual(snapshot(20));
      expect(await opened.other.load(session)).toEqual(snapshot(20));
      expect(await opened.store.load(another)).toEqual(snapshot(7));
    });

    it.each([19, 20])(
      'the snapshot store refuses sequence %i when it holds a snapshot at 20',
      async (sequence) => {
        const session = newSession();
        await save(session, 20);
        expect(await save(session, sequence, 'another text')).toBe('older');
        expect(await opened.other.save(session, snapshot(sequence, 'another text'))).toBe('older');
        expect(await opened.store.load(session)).toEqual(snapshot(20));
      },
    );

    it('the snapshot store gives the text of a snapshot back byte for byte', async () => {
      const session = newSession();
      let sequence = 0;
      const roundTrip = async (rest: string) => {
        sequence += 1;
        const saved = snapshot(sequence, rest);
        expect(await opened.store.save(session, saved)).toBe('saved');
        expect(await opened.other.load(session)).toEqual(saved);
      };
      await roundTrip('\u0000 \ufeff \u2028 \r\n " \\ é 😀 ﷽');
      await roundTrip('x'.repeat(opened.maxBytes - 100));
      const texts = fc.string({ unit: 'grapheme', maxLength: 50 });
      await fc.assert(fc.asyncProperty(texts, roundTrip), { numRuns: 50 });
    });

    it('the snapshots of a key never go backwards when many write at once, and end with the highest', async () => {
      const sequences = fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { minLength: 20, maxLength: 20 });
      const written = fc.asyncProperty(sequences, async (all) => {
        const session = newSession();
        const seen: number[] = [];
        const saves = all.map((sequence, index) =>
          (index % 2 === 0 ? opened.store : opened.other).save(session, snapshot(sequence)),
        );
        const saved = Promise.all(saves).then(() => true);
        do seen.push((await opened.other.load(session))?.sequence ?? 0);
        while (!(await Promise.race([saved, opened.other.load(session).then(() => false)])));
        expect(seen).toEqual(seen.toSorted((a, b) => a - b));
        expect(await opened.store.load(session)).toEqual(snapshot(Math.max(...all)));
      });
      await fc.assert(written, { numRuns: 8, endOnFailure: true });
    });

    it('the snapshot store saves each of many snapshots that come at once in rising order', async () => {
      const session = newSession();
      const outcomes = await Promise.all(Array.from({ length: 40 }, (_, index) => save(session, index + 1)));
      expect(outcomes.at(-1)).toBe('saved');
      expect(await opened.store.load(session)).toEqual(snapshot(40));
    });

    it('the snapshot store finds older snapshots among the newest five, which it keeps', async () => {
      const session = newSession();
      for (const sequence of [10, 20, 30, 40, 50, 60]) await save(session, sequence);
      const at = async (sequence: number) => (await opened.store.loadAtOrBefore(session, sequence))?.sequence;
      expect(await at(1000)).toBe(60);
      expect(await at(60)).toBe(60);
      expect(await at(59)).toBe(50);
      expect(await at(40)).toBe(40);
      expect(await at(39)).toBe(30);
      expect(await at(20)).toBe(20);
      expect(await at(19)).toBeUndefined();
      expect(await opened.store.loadAtOrBefore(session, 45)).toEqual(snapshot(40));
    });

    it('the snapshot store says so when a text is too large, and keeps what it holds', async () => {
      const session = newSession();
      await save(session, 10);
      const text = `${snapshot(20).text}${noise(opened.maxBytes)}`;
      expect(await opened.store.save(session, { sequence: 20, text })).toBe('too_large');
      // The limit is in bytes, not characters.
      const wide = `${snapshot(20).text}${wideNoise(opened.maxBytes / 2)}`;
      expect(await opened.store.save(session, { sequence: 20, text: wide })).toBe('too_large');
      expect(await opened.store.load(session)).toEqual(snapshot(10));
      expect(await save(session, 20)).toBe('saved');
    });

    it.each(['', 'no snapshot', '{"v":9}', '[]', 'null'])(
      'the snapshot store passes over a damaged value: %j',
      async (text) => {
        const session = newSession();
        await save(session, 10);
        await save(session, 20);
        await opened.damaged(session, text);
        expect(await opened.store.load(session)).toEqual(snapshot(20));
        expect(await opened.store.loadAtOrBefore(session, 15)).toEqual(snapshot(10));
        expect(await save(session, 20)).toBe('older');
        expect(await opened.other.save(session, snapshot(5))).toBe('older');
        expect(await save(session, 30)).toBe('saved');
        expect(await opened.other.load(session)).toEqual(snapshot(30));
      },
    );

    it('the snapshot store goes on where nothing but damaged values is left', async () => {
      const session = newSession();
      await save(session, 20);
      for (let at = 0; at < 5; at += 1) await opened.damaged(session, `no snapshot ${at}`);
      expect(await opened.store.load(session)).toBeUndefined();
      expect(await opened.store.loadAtOrBefore(session, 1000)).toBeUndefined();
      expect(await opened.other.save(session, snapshot(21))).toBe('saved');
      expect(await opened.store.load(session)).toEqual(snapshot(21));
    });
  });
}

/** Returns incompressible characters of one byte. */
function noise(length: number): string {
  return randomBytes(length).toString('base64').slice(0, length);
}

/** Returns incompressible characters of three bytes. */
function wideNoise(length: number): string {
  return [...randomBytes(length * 2).toString('ucs2')]
    .map((character) => String.fromCharCode(0x1000 + ((character.codePointAt(0) ?? 0) % 0xc000)))
    .join('');
}

/** Returns a text like that of a snapshot, which begins with the sequence. */
function snapshot(sequence: number, rest = 'state'): StoredSnapshot {
  return { sequence, text: `{"after_sequence":${sequence},"rest":${JSON.stringify(rest)}}` };
}

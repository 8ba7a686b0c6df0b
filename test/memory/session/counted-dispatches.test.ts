import { describe, expect, it } from 'vitest';
import {
  COUNTED_MEMORY,
  CountedDispatches,
  type CountedJson,
  type CountedMemory,
} from '../../../src/memory/session/dispatch-window.js';
import * as fc from '../../support/properties.js';

const SMALL: CountedMemory = { maxBytes: 12, surely: 4, maxLate: 2 };

/** What should count, spelled out: every sequence ever seen is kept. */
class Model {
  readonly known = new Set<number>();
  count(sequence: number): boolean {
    const isNew = !this.known.has(sequence);
    this.known.add(sequence);
    return isNew;
  }
}

function again(counted: CountedDispatches, memory: CountedMemory): CountedDispatches {
  const json: CountedJson = JSON.parse(JSON.stringify(counted));
  return new CountedDispatches(json, memory);
}

describe('what has counted', () => {
  it('the record of counted dispatches is exact above the floor, in any order and with any steps between', () => {
    const sequences = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 2 ** 45 })),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(sequences, (given) => {
        const [model, counted] = [new Model(), new CountedDispatches()];
        for (const [event, sequence] of given.entries()) {
          expect(counted.count(sequence, event + 1)).toBe(model.count(sequence));
        }
        expect(given.every((sequence) => counted.has(sequence))).toBe(true);
        expect(counted.newest()).toBe(Math.max(0, ...given));
        expect(JSON.stringify(again(counted, COUNTED_MEMORY))).toBe(JSON.stringify(counted));
      }),
    );
  });

  it('the record of counted dispatches forgets the lowest, the same ones whatever is written and read back in between', () => {
    const step = fc.tuple(fc.integer({ min: 1, max: 300 }), fc.option(fc.nat(10)), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        let [kept, restored] = [
          new CountedDispatches(undefined, SMALL),
          new CountedDispatches(undefined, SMALL),
        ];
        for (const [index, [sequence, behind, write]] of steps.entries()) {
          const checked = behind === null ? undefined : Math.max(0, index - behind);
          expect(restored.count(sequence, index + 1, checked)).toBe(kept.count(sequence, index + 1, checked));
          if (write) restored = again(restored, SMALL);
          expect(JSON.stringify(restored)).toBe(JSON.stringify(kept));
          expect(kept.bytes).toBeLessThanOrEqual(SMALL.maxBytes);
        }
      }),
    );
  });

  it.each([1, 40, 100])(
    'the record of counted dispatches takes at most two bytes each in a snapshot, one dispatch in %i being its own',
    (every) => {
      const counted = new CountedDispatches();
      for (let index = 1; index <= 50_000; index += 1) counted.count(index * every, index);
      expect(counted.toJSON().steps.length).toBeLessThanOrEqual(2 * 50_000);
    },
  );

  it.each([1, 90, 5000, 3_000_000])(
    'the record of counted dispatches takes at most 128 KB, and remembers at least 23,040, one dispatch in %i being its own',
    (every) => {
      const counted = new CountedDispatches();
      const total = 110_000;
      for (let index = 1; index <= total; index += 1) counted.count(index * every, index);
      expect(counted.floor).toBeLessThanOrEqual((total - COUNTED_MEMORY.surely) * every);
      for (let index = 1; index <= 1000; index += 1) counted.count(index, total + index, total);
      expect(JSON.stringify(counted).length).toBeLessThanOrEqual(128 * 1024);
    },
  );
});

describe('a dispatch at or below the floor', () => {
  const full = () => {
    const counted = new CountedDispatches(undefined, SMALL);
    for (let sequence = 10; sequence <= 400; sequence += 10) counted.count(sequence, sequence);
    expect(counted.floor).toBe(280);
    return counted;
  };

  it('a dispatch at or below the floor does not count without a proof', () => {
    const counted = full();
    expect(counted.count(15, 401)).toBe(false);
    expect(counted.has(15)).toBe(false);
  });

  it('a dispatch at or below the floor counts with a proof, once, however many workers have looked', () => {
    const counted = full();
    expect(counted.count(15, 401, 400)).toBe(true);
    expect(counted.count(15, 402, 400)).toBe(false);
    expect(counted.has(15)).toBe(true);
  });

  it('a dispatch at or below the floor does not count with a proof from before another late one was forgotten', () => {
    const counted = full();
    expect([15, 25, 35].map((sequence, index) => counted.count(sequence, 401 + index, 400))).toEqual([
      true,
      true,
      true,
    ]);
    // 15 counted by event 401 and is forgotten: who had looked before that does not know.
    expect(counted.count(15, 404, 400)).toBe(false);
    expect(counted.count(45, 405, 400)).toBe(false);
    expect(counted.count(45, 406, 401)).toBe(true);
  });
});

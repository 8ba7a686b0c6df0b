import { describe, expect, it } from 'vitest';
import { InMemorySessionFactStore } from '../../../src/memory/facts/fact-store.js';
import {
  addVectors,
  closeness,
  embeddedText,
  type FactVectors,
  fromStored,
  mayOrder,
  quantized,
  toStored,
  withoutVector,
} from '../../../src/memory/facts/fact-vectors.js';
import { factsFrom, implementer, reviewer } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

const numbers = fc.array(fc.float({ min: -1, max: 1, noNaN: true, noDefaultInfinity: true }), {
  minLength: 8,
  maxLength: 8,
});
const vector = numbers
  .filter((values) => Math.hypot(...values) > 0.1)
  .map((values) => Float32Array.from(values));

function cosine(one: Float32Array, other: Float32Array): number {
  const sum = one.reduce((total, value, at) => total + value * (other[at] ?? 0), 0);
  return sum / (Math.hypot(...one) * Math.hypot(...other));
}

describe('a vector in 8 bits', () => {
  it('the likeness of two vectors survives 8 bits and storage', () => {
    fc.assert(
      fc.property(vector, vector, (task, fact) => {
        const known: FactVectors = new Map();
        const { model: _, ...stored } = toStored(quantized('m', fact));
        addVectors(known, { model: 'm', vectors: [{ fact: 'a', ...stored }] });
        const asked = quantized('m', task);
        expect(toStored(fromStored(toStored(asked)))).toEqual(toStored(asked));
        expect(closeness(asked, known)('a')).toBeCloseTo(cosine(task, fact), 1);
      }),
    );
  });

  it('a session keeps its newest vectors, fewer if they are long', () => {
    const known: FactVectors = new Map();
    const values = Buffer.alloc(2560).toString('base64');
    const add = (fact: string) => addVectors(known, { model: 'm', vectors: [{ fact, scale: 1, values }] });
    for (let n = 1; n <= 101; n += 1) add(String(n));
    add('2');
    add('102');
    expect([known.size, known.has('1'), known.has('2'), known.has('3')]).toEqual([100, false, true, false]);
  });
});

describe('facts without a vector', () => {
  const store = new InMemorySessionFactStore();
  store.add(
    factsFrom(
      1,
      implementer({
        files_modified: ['src/a.ts'],
        follow_up_actions: ['write docs'],
        tests: [{ command: 'npm test', passed: true }],
        facts: [{ subject: 'sessions', relation: 'decided', object: `live in redis${' always'.repeat(60)}` }],
      }),
    ),
  );
  store.add(factsFrom(2, reviewer({ assessment: 'needs_changes', required_fixes: ['Always close files'] })));
  const wanted = (known: FactVectors) => withoutVector(store.index(), known, 'm').map(({ fact }) => fact);

  it('decisions, conventions, findings and open points get a vector, and no verdict, summary, file or test', () => {
    expect(wanted(new Map()).map(({ relation }) => relation)).toEqual([
      'convention',
      'decided',
      'must_fix',
      'requires',
    ]);
  });

  it('a vector of another model does not count, one of the same does', () => {
    const [first, second] = wanted(new Map());
    const known: FactVectors = new Map([
      [second?.id ?? '', quantized('n', Float32Array.of(1))],
      [first?.id ?? '', quantized('m', Float32Array.of(1))],
    ]);
    expect(wanted(known).map(({ relation }) => relation)).toEqual(['decided', 'must_fix', 'requires']);
  });

  it('the first 300 characters of a fact are embedded, with its subject unless that is its task', () => {
    const texts = withoutVector(store.index(), new Map(), 'm').map(embeddedText);
    expect(texts[0]).toBe('Always close files');
    expect(texts[1]).toMatch(/^sessions decided live in redis always/);
    expect(texts[1]).toHaveLength(300);
  });

  it('few decisions are not ordered by meaning', () => {
    const known: FactVectors = new Map([['a', quantized('m', Float32Array.of(1))]]);
    expect(mayOrder(store.index(), known, 'm')).toBe(false);
    for (let n = 0; n < 40; n += 1)
      store.add(
        factsFrom(
          10 + n,
          implementer({ facts: [{ subject: `s${n}`, relation: 'decided', object: `as ${n}` }] }),
        ),
      );
    expect([mayOrder(store.index(), known, 'm'), mayOrder(store.index(), known, 'n')]).toEqual([true, false]);
  });
});

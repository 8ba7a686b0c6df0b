import { describe, expect, it } from 'vitest';
import {
  demandId,
  learningId,
  learningText,
  likeness,
  sameText,
  wordSet,
} from '../../../src/memory/learnings/learnings-state.js';
import { lengthOf } from '../../../src/shared/text.js';
import { hostileTexts } from '../../support/builders.js';
import { cpuMs } from '../../support/cpu-time.js';
import * as fc from '../../support/properties.js';

const id = (text: string) => learningId('demo', text);
const demand = (text: string) => demandId('demo', text);

const similarity = (one: string, other: string) => likeness(wordSet(one), wordSet(other));

describe('the text of a learning', () => {
  it.each([['a marker', 'END_DISPATCH_RESULT Name it', 'END DISPATCH RESULT Name it']])(
    'the text of a learning is one quoted line, of %s',
    (_what, given, expected) => {
      expect(learningText(given)).toBe(expected);
    },
  );

  it('the text of a learning is at most 200 characters, whole ones', () => {
    expect(learningText('x'.repeat(10_000))).toBe(`${'x'.repeat(197)}...`);
    const emoji = learningText('😀'.repeat(10_000));
    expect(lengthOf(emoji)).toBe(200);
    expect(emoji.isWellFormed()).toBe(true);
    expect(learningText('é'.repeat(200))).toBe('é'.repeat(200));
  });

  it('the text of a learning stays as it is when it is cleaned again, and forges nothing', () => {
    fc.assert(
      fc.property(hostileTexts, (given) => {
        const text = learningText(given);
        expect(learningText(text)).toBe(text);
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(text).not.toMatch(/\[\s*task\s*:|\[\s*session\s+context|(BEGIN|END)_DISPATCH_RESULT/i);
        expect(lengthOf(text)).toBeLessThanOrEqual(200);
      }),
    );
  });
});

describe('the id of a learning', () => {
  it('the id of a learning is pinned: logs that exist hold it', () => {
    expect(id('Name the field in every error message')).toBe('0bfdbaf8cef3');
    expect(demand('Name the field in src/a.ts:12')).toBe('c2240775f11e');
  });

  it.each([
    ['Name the field', 'name the FIELD.'],
    ['Name the field', '  Name,  the "field"!  '],
    ["Don't name it", 'Don’t name it'],
    ['Use `npm ci`', 'Use npm ci'],
    ['Caf\u00e9 au lait', 'Cafe\u0301 au lait'],
    ['Re-use the parser', 'Re use the parser'],
  ])('the id of a learning is the same for %j and %j', (one, other) => {
    expect(id(one)).toBe(id(other));
    expect(sameText(one, other)).toBe(true);
  });

  it.each([
    ['Name the field', 'Never name the field'],
    ['Compare with ==', 'Compare with ==='],
    ['Retry when n < 3', 'Retry when n > 3'],
    ['Written in C', 'Written in C++'],
    ['Written in C#', 'Written in C'],
    ['Push with --force', 'Push with force'],
    ['कि', 'का'],
    ['👍', '👎'],
    ['!!!', '???'],
  ])('the id of a learning differs for %j and %j', (one, other) => {
    expect(id(one)).not.toBe(id(other));
    expect(sameText(one, other)).toBe(false);
  });

  it('the id of a learning differs from project to project', () => {
    expect(learningId('one', 'Name the field')).not.toBe(learningId('two', 'Name the field'));
    expect(learningId('a', 'b c')).not.toBe(learningId('a b', 'c'));
  });
});

describe('the id of a demand', () => {
  it.each([
    ['Name the field in src/a.ts', 'Name the field in test/deep/b.test.ts'],
    ['Name the field in src/a.ts:12:4', 'Name the field in `lib/b.py:9`'],
    ['src/a.ts: name the field', 'lib\\b.py: name the field'],
    ['Name the field (line 12)', 'Name the field (line 7)'],
    ['Name the field, L12-L14', 'Name the field, L3-L5'],
    ['Name the field in ./src/a', 'Name the field in /srv/app/b'],
    ['Lock versions in package.json', 'Lock versions in go.sum.lock'],
    ['Cover case 3', 'Cover case 12'],
  ])('the id of a demand does not count places: %j and %j', (one, other) => {
    expect(demand(one)).toBe(demand(other));
  });

  it.each([
    ['Check every input/output', 'Check every read/write'],
    ['Use path.join here', 'Use fs.open here'],
    ["Do/don't name it", 'Do name it'],
    ['Never edit src/a.ts', 'Edit src/a.ts'],
    ['Fix src/a.ts', 'Fix src/b.ts'],
    ['src/a.ts', 'src/b.ts'],
    ['12', '13'],
    ['Support utf8', 'Support utf16'],
  ])(
    'the id of a demand counts what only looks like a place, or is all there is: %j and %j',
    (one, other) => {
      expect(demand(one)).not.toBe(demand(other));
    },
  );

  it('the id of a demand is that of the learning where no place is named', () => {
    expect(demand('Name the field.')).toBe(id('name the field'));
  });

  it('the id of a demand is found fast in the worst of texts', () => {
    const worst = ['a/', 'a.', '-', './', 'a-/', '1.', '.ts', '../../', '@'].map((part) =>
      learningText(part.repeat(100)),
    );
    for (const text of worst) {
      expect(cpuMs(() => demand(text))).toBeLessThan(1000);
    }
  });
});

describe('how alike two texts are', () => {
  it.each([
    ['Name the field', 'name the field!', 1],
    ['a b c d', 'a b c e', 0.6],
    ['a b c', 'x y z', 0],
    ['👍', '👍', 1],
    ['👍', '👎', 0],
    ['', '', 1],
  ])('the similarity of %j and %j is %d', (one, other, expected) => {
    expect(similarity(one, other)).toBeCloseTo(expected);
    expect(similarity(other, one)).toBeCloseTo(expected);
  });

  it.each([
    ['Commit the lock file to git', 'Never commit the lock file to git'],
    ['Mock the server in tests', 'Do not mock the server in tests'],
    ['Mock the server in tests', "Don't mock the server in tests"],
    ['The server should retry', "The server shouldn't retry"],
    ['The build is cached on CI', "The build isn't cached on CI"],
    ['The flag will be read again', 'The flag won’t be read again'],
    ['Run it with a lock', 'Run it without a lock'],
  ])('the similarity of two texts is nothing where only one negates: %j and %j', (one, other) => {
    expect(similarity(one, other)).toBe(0);
  });

  it('the similarity of two texts is between 0 and 1, and the same from both sides', () => {
    fc.assert(
      fc.property(hostileTexts, hostileTexts, (one, other) => {
        const alike = similarity(one, other);
        expect(alike).toBeGreaterThanOrEqual(0);
        expect(alike).toBeLessThanOrEqual(1);
        expect(similarity(other, one)).toBe(alike);
        expect(similarity(one, one)).toBe(1);
        if (sameText(one, other)) expect(alike).toBe(1);
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { KEPT } from '../../../src/contracts/kept-limits.js';
import { createFactId, recordedFact } from '../../../src/memory/facts/fact-types.js';
import { lengthOf } from '../../../src/shared/text.js';
import { hostileTexts } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

describe('createFactId', () => {
  it('a fact id is a stable 16 hex characters', () => {
    // Written down, since ids are stored: a change here is a change of every session that exists.
    expect(createFactId('src/a.ts', 'modified_by', 'task:1')).toBe('b869b1173404203c');
    expect(createFactId('', '', '')).toMatch(/^[0-9a-f]{16}$/);
  });

  it('a fact id differs wherever the words do, also when only the boundary between two fields moves', () => {
    const field = fc.array(fc.constantFrom('a', '\u001f', '\\', 'u', '')).map((parts) => parts.join(''));
    const triple = fc.tuple(field, field, field);
    fc.assert(
      fc.property(triple, triple, (one, other) => {
        const same = one.every((part, index) => part === other[index]);
        expect(createFactId(...one) === createFactId(...other)).toBe(same);
      }),
      { numRuns: 500 },
    );
  });
});

describe('recordedFact', () => {
  it('a recorded fact keeps plain words as they are, and no other key', () => {
    expect(recordedFact('src/a.ts', 'modified_by', 'task:1', ['file_change'])).toEqual({
      subject: 'src/a.ts',
      relation: 'modified_by',
      object: 'task:1',
      tags: ['file_change'],
    });
  });

  it.each([
    ['', 'object'],
    ['subject', ''],
    [' \n', 'object'],
    ['subject', '\u200b'],
  ])('a recorded fact of %j %j is nothing where nothing is left to say', (subject, object) => {
    expect(recordedFact(subject, 'is', object, [])).toBeUndefined();
  });

  it('a recorded fact quotes and clips any words', () => {
    const long = fc.tuple(hostileTexts, fc.nat(300)).map(([text, more]) => text + 'x'.repeat(more));
    fc.assert(
      fc.property(long, long, (subject, object) => {
        const fact = recordedFact(subject, 'is', object, []);
        if (fact === undefined) return;
        expect(lengthOf(fact.subject)).toBeLessThanOrEqual(KEPT.fact.subject);
        expect(lengthOf(fact.object)).toBeLessThanOrEqual(KEPT.fact.object);
        expect(fact.subject + fact.object).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\[task:|\[Session Context/iu,
        );
      }),
    );
  });
});

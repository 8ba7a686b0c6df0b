import { expect, it } from 'vitest';
import type { IndexedFact } from '../../../src/memory/facts/fact-index.js';
import { FactIndex } from '../../../src/memory/facts/fact-index.js';
import { fact } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

const NEWEST_FIRST = (a: IndexedFact, b: IndexedFact) =>
  b.fact.sourceSequence - a.fact.sourceSequence || a.slot - b.slot;

it('facts that come and go in any order are listed as a sort of all of them would list them', () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 1, max: 8 }), relation: fc.constantFrom('modified_by', 'uses') }),
    fc.record({ remove: fc.nat(30) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const index = new FactIndex();
      for (const each of steps) {
        const held = [...index.all()];
        if ('add' in each)
          index.add(
            fact({ sourceSequence: each.add, relation: each.relation, object: `thing ${held.length}` }),
          );
        else if (held.length > 0) index.remove((held[each.remove % held.length] as IndexedFact).fact);
        for (const isDull of [true, false]) {
          const plain = [...index.all()].filter((entry) => entry.isDull === isDull).sort(NEWEST_FIRST);
          expect([...index.byAge(isDull).newestFirst()]).toEqual(plain);
          expect(index.byAge(isDull).size).toBe(plain.length);
        }
      }
    }),
  );
});

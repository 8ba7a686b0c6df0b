import { expect, it } from 'vitest';
import type { IndexedFact } from '../../../src/memory/facts/fact-index.js';
import { FactIndex } from '../../../src/memory/facts/fact-index.js';
import { rankFacts } from '../../../src/memory/facts/fact-ranking.js';
import { InMemorySessionFactStore } from '../../../src/memory/facts/fact-store.js';
import { fact, factsFrom, roleResults } from '../../support/builders.js';
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

it('an answer that is filled up counts what it was filled from as a look at every fact would', () => {
  const runs = fc.array(roleResults, { maxLength: 8 });
  fc.assert(
    fc.property(runs, fc.boolean(), fc.constantFrom('1', '2', 'none'), (results, besideLedger, one) => {
      const store = new InMemorySessionFactStore();
      for (const [at, returned] of results.entries()) store.add(factsFrom(at + 1, returned));
      // Beside a ledger, what its own task decided is chosen before.
      const taskId = besideLedger ? 'none' : one;
      const asked = { text: '', taskId, files: [], similar: new Map(), besideLedger, rest: 1000 };
      const allowed = [...store.index().all()].filter(
        (entry) => entry.fact.sourceTaskId !== taskId && !(besideLedger && entry.isDull),
      );
      expect(rankFacts(store, asked).restTotal).toBe(allowed.length);
      const tagged = allowed.filter(({ fact }) => fact.tags.includes('test'));
      expect(rankFacts(store, { ...asked, tags: ['test'] }).restTotal).toBe(tagged.length);
    }),
  );
});

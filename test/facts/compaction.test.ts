import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InMemorySessionFactStore } from '../../src/facts/fact-store.js';
import { fact, factsFrom, reviewer, roleResults, sayings } from '../support/builders.js';

/** Five facts; those of dispatches 2 and 3 are closed by 4 and 5. */
function fiveFacts(): InMemorySessionFactStore {
  const store = new InMemorySessionFactStore();
  const subjects = ['a', 'b', 'c', 'b', 'c'];
  for (const [index, subject] of subjects.entries())
    store.add([fact({ subject, sourceSequence: index + 1 })]);
  return store;
}

const held = (store: InMemorySessionFactStore) => store.all().map((each) => each.sourceSequence);

describe('compact', () => {
  it.each([
    [6, [1, 2, 3, 4, 5]],
    [5, [1, 2, 3, 4, 5]],
    [4, [1, 3, 4, 5]],
    [3, [1, 4, 5]],
    [2, [4, 5]],
    [1, [5]],
    [0, []],
  ])('compaction to %i drops closed facts first, then valid ones, the oldest first', (maxFacts, left) => {
    const store = fiveFacts();
    store.compact(maxFacts);
    expect(held(store)).toEqual(left);
    expect(store.size()).toBe(left.length);
    expect(store.count()).toBe(left.filter((sequence) => sequence === 1 || sequence > 3).length);
  });

  it('compaction goes by dispatch, not by arrival', () => {
    const store = new InMemorySessionFactStore();
    for (const sourceSequence of [3, 1, 2])
      store.add([fact({ subject: `${sourceSequence}`, sourceSequence })]);
    store.compact(1);
    expect(held(store)).toEqual([3]);
  });

  it('compaction forgets what it dropped: nothing that comes later is closed by it or closes it', () => {
    const store = fiveFacts();
    store.compact(0);
    expect(store.getValid()).toEqual([]);
    const older = fact({ subject: 'b', sourceSequence: 3 });
    store.add([older]);
    expect(store.all()).toEqual([older]);
    store.add([fact({ subject: 'b', sourceSequence: 6 })]);
    expect(held(store)).toEqual([3, 6]);
    expect(store.count()).toBe(1);
  });

  it('compaction forgets an approval and its findings as well', () => {
    const store = new InMemorySessionFactStore();
    const approval = factsFrom(2, reviewer({ assessment: 'approved' }));
    const finding = factsFrom(1, reviewer({ required_fixes: ['close it'] }));
    store.add(approval);
    store.compact(0);
    store.add(finding);
    expect(sayings(store.getValid())).toContain('task:1 must_fix close it');
    store.compact(0);
    store.add(approval);
    expect(sayings(store.all())).toEqual(['task:1 reviewed_as approved']);
  });

  it('compaction leaves a store that behaves like a new one with the same facts', () => {
    const dispatches = fc.array(roleResults, { maxLength: 10 });
    fc.assert(
      fc.property(dispatches, dispatches, fc.nat(20), (before, after, maxFacts) => {
        const store = new InMemorySessionFactStore();
        for (const [index, returned] of before.entries()) store.add(factsFrom(index + 1, returned));
        store.compact(maxFacts);
        const fresh = InMemorySessionFactStore.of(store.all());
        for (const [index, returned] of after.entries()) {
          const facts = factsFrom(before.length + index + 1, returned);
          store.add(facts);
          fresh.add(facts);
        }
        expect(store.all()).toEqual(fresh.all());
        expect(store.count()).toBe(store.getValid().length);
        expect(fresh.count()).toBe(store.count());
      }),
    );
  });

  it('compaction never drops a valid fact while a closed one is there', () => {
    fc.assert(
      fc.property(fc.array(roleResults, { maxLength: 10 }), fc.nat(30), (results, maxFacts) => {
        const store = new InMemorySessionFactStore();
        for (const [index, returned] of results.entries()) store.add(factsFrom(index + 1, returned));
        const before = store.getValid();
        store.compact(maxFacts);
        expect(store.size()).toBeLessThanOrEqual(maxFacts);
        expect(store.getValid()).toEqual(before.slice(Math.max(0, before.length - maxFacts)));
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { InMemorySessionFactStore } from '../../../src/memory/facts/fact-store.js';
import { MOST_VALUE, worthOf } from '../../../src/memory/facts/fact-types.js';
import { fact, factsFrom, implementer, reviewer, roleResults, sayings } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

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

  it('compaction never drops a rule or the word of a person for what agents decided, found or left to do', () => {
    const store = new InMemorySessionFactStore();
    const said = [
      { relation: 'requires', object: 'write the docs' },
      { relation: 'found', object: 'the clock is in UTC' },
      { relation: 'decided', object: 'one port', tags: ['decision' as const] },
      { relation: 'rule', object: 'never touch legacy/', tags: ['convention' as const] },
      { relation: 'found', object: 'the CI has no docker', origin: 'person' as const },
    ];
    for (const [at, each] of said.toReversed().entries())
      store.add([fact({ ...each, subject: `task:${at}`, sourceSequence: at + 1 })]);
    const left = (most: number) => {
      store.compact(most);
      return store.all().map(({ object }) => object);
    };
    expect(left(4)).not.toContain('write the docs');
    expect(left(3)).not.toContain('the clock is in UTC');
    expect(left(2)).toEqual(['the CI has no docker', 'never touch legacy/']);
  });

  it('compaction leaves a store that behaves like a new one with the same facts', () => {
    const dispatches = fc.array(roleResults, { maxLength: 10 });
    fc.assert(
      fc.property(dispatches, dispatches, fc.nat(20), (before, after, maxFacts) => {
        const store = new InMemorySessionFactStore();
        for (const [index, returned] of before.entries()) store.add(factsFrom(index + 1, returned));
        store.compact(maxFacts);
        const fresh = InMemorySessionFactStore.of(store.all(), store.dropped());
        for (const [index, returned] of after.entries()) {
          const facts = factsFrom(before.length + index + 1, returned);
          store.add(facts);
          fresh.add(facts);
        }
        expect(store.all()).toEqual(fresh.all());
        expect(store.count()).toBe(store.getValid().length);
        expect(fresh.count()).toBe(store.count());
        expect(fresh.copy().dropped()).toBe(store.dropped());
      }),
    );
  });

  it('compaction keeps what is worth more, and of equal worth what is newer, whatever order it came in', () => {
    const dispatches = fc
      .array(roleResults, { maxLength: 10 })
      .chain((results) =>
        fc.tuple(
          fc.constant(results),
          fc.shuffledSubarray([...results.keys()], { minLength: results.length }),
        ),
      );
    fc.assert(
      fc.property(dispatches, fc.nat(30), ([results, order], maxFacts) => {
        const storeIn = (places: readonly number[]) => {
          const store = new InMemorySessionFactStore();
          for (const at of places) store.add(factsFrom(at + 1, results[at] ?? implementer({})));
          return store;
        };
        const store = storeIn([...results.keys()]);
        const all = store.all();
        store.compact(maxFacts);
        const left = store.all();
        expect(left).toHaveLength(Math.min(maxFacts, all.length));
        const gone = all.filter((each) => !left.includes(each));
        const spared = left.filter((each) => worthOf(each) < MOST_VALUE);
        for (const each of spared) {
          for (const other of gone.filter((one) => worthOf(one) < MOST_VALUE)) {
            const better = worthOf(each) - worthOf(other) || each.sourceSequence - other.sourceSequence;
            expect(better).toBeGreaterThanOrEqual(0);
          }
        }
        const shuffled = storeIn(order);
        shuffled.compact(maxFacts);
        expect(shuffled.all()).toEqual(left);
      }),
    );
  });

  it('compaction drops file changes, verdicts and summaries before findings, conventions and decisions', () => {
    const store = new InMemorySessionFactStore();
    store.add(factsFrom(1, reviewer({ task_id: '1', required_fixes: ['close the file'] })));
    const decision = { subject: 'api', relation: 'uses', object: 'headers', tags: ['decision' as const] };
    store.add(factsFrom(2, implementer({ task_id: '2', summary: 'made it', facts: [decision] })));
    const files = Array.from({ length: 20 }, (_, file) => `src/${file}.ts`);
    store.add(factsFrom(3, implementer({ task_id: '3', summary: 'made more', files_modified: files })));
    store.compact(5);
    expect(sayings(store.all())).toEqual([
      'task:1 must_fix close the file',
      'task:2 summary made it',
      'api uses headers',
      'task:3 completed_with completed',
      'task:3 summary made more',
    ]);
    store.compact(2);
    expect(sayings(store.all())).toEqual(['task:1 must_fix close the file', 'api uses headers']);
  });

  it('compaction leaves a quarter to what is new, however many findings there are', () => {
    const store = new InMemorySessionFactStore();
    const fixes = Array.from({ length: 100 }, (_, fix) => `fix ${fix}`);
    store.add(factsFrom(1, reviewer({ required_fixes: fixes })));
    store.add(factsFrom(2, implementer({ task_id: '2', follow_up_actions: fixes })));
    store.compact(40);
    const of = (relation: string) => store.all().filter((each) => each.relation === relation).length;
    expect([of('must_fix'), of('requires')]).toEqual([30, 10]);
  });

  it('compaction bounds the bytes of all words too', () => {
    const store = new InMemorySessionFactStore();
    const sayingOf = (n: number) => fact({ subject: `s${n}`, object: '语'.repeat(100), sourceSequence: n });
    store.add(Array.from({ length: 20 }, (_, n) => sayingOf(n + 1)));
    store.compact(20, 2000);
    expect(store.bytes()).toBeLessThanOrEqual(2000);
    expect(held(store)).toEqual([15, 16, 17, 18, 19, 20]);
  });
});

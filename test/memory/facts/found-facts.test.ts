import { describe, expect, it } from 'vitest';
import { checkedRequest } from '../../../src/contracts/checked.js';
import type { FoundFact } from '../../../src/contracts/fact-requests.js';
import { REQUESTS, type ToolInput } from '../../../src/contracts/requests.js';
import { InMemorySessionFactStore } from '../../../src/memory/facts/fact-store.js';
import type { SessionFact } from '../../../src/memory/facts/fact-types.js';
import { factHistory, factOfId, findFacts } from '../../../src/memory/facts/found-facts.js';
import { factsFrom, implementer, reviewer, roleResults, timeOf } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

type Asked = Omit<ToolInput<'fact-find'>, 'session'>;

/** A finding on task 1 that is closed by dispatch 9, and the work that it was raised for. */
const STORE = storeOf([
  [3, implementer({ summary: 'Parser done', files_modified: ['src/parser.ts'] })],
  [6, reviewer({ required_fixes: ['Return an empty list'] })],
  [9, reviewer({ assessment: 'approved' })],
]);

function storeOf(results: readonly (readonly [number, Parameters<typeof factsFrom>[1]])[]) {
  const store = new InMemorySessionFactStore();
  for (const [sequence, result] of results) store.add(factsFrom(sequence, result));
  return store;
}

function find(asked: Asked, facts: readonly SessionFact[] = STORE.all()) {
  return findFacts(facts, checkedRequest(REQUESTS['tool.fact-find'].request, { session: 'demo', ...asked }));
}

function allPages(asked: Asked, next: () => readonly SessionFact[]) {
  const found: FoundFact[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = find({ ...asked, ...(cursor !== undefined && { cursor }) }, next());
    found.push(...page.facts);
    if (page.next === undefined) return found;
    cursor = page.next;
  }
}

describe('finding facts', () => {
  it('valid facts are found by words that all stand in them, in any order and case', () => {
    expect(find({ text: 'DONE parser' }).facts).toMatchObject([{ object: 'Parser done', dispatch: 3 }]);
    expect(find({ text: 'parser lexer' })).toEqual({ facts: [], total: 0, kinds: {}, past: 0 });
    expect(find({ text: 'empty list' })).toEqual({ facts: [], total: 0, kinds: {}, past: 0 });
  });

  it('a closed fact says which dispatch closed it, and when', () => {
    const closed = [{ task: '1', role: 'reviewer', dispatch: 6, closed_by: 9, closed_at: timeOf(9) }];
    expect(find({ text: 'empty list', is: 'all' }).facts).toMatchObject(closed);
    expect(find({ text: 'empty list', is: 'closed' }).facts).toMatchObject(closed);
  });

  it('a fact is found by its id, or by four characters of its beginning', () => {
    const [fact] = find({ text: 'parser done' }).facts;
    for (const text of [fact?.id, fact?.id.slice(0, 4), fact?.id.toUpperCase()])
      expect(find({ text: text ?? '' }).facts).toEqual([fact]);
  });

  it('valid facts come before closed ones, the newest first, and the limit is counted', () => {
    const { facts, total } = find({ is: 'all' });
    expect(facts).toHaveLength(total);
    const closed = facts.map(({ closed_by }) => closed_by !== undefined);
    expect(closed).toEqual(closed.toSorted((a, b) => Number(a) - Number(b)));
    const valid = facts.filter(({ closed_by }) => closed_by === undefined).map(({ dispatch }) => dispatch);
    expect(valid).toEqual(valid.toSorted((a, b) => b - a));
    expect(find({ is: 'all', limit: 2 })).toMatchObject({ facts: facts.slice(0, 2), total });
    expect(find({ task: '2' }).total).toBe(0);
  });

  it('what persons state comes before what users and agents do, each the newest first', () => {
    const base = factsFrom(1, implementer({ facts: [{ subject: 'a', relation: 'decided', object: 'b' }] }));
    const of = (origin: SessionFact['origin'], at: number, eventSequence = at) =>
      base.slice(-1).map((fact) => ({ ...fact, origin, sourceSequence: at, eventSequence }) as SessionFact);
    const facts = [of(undefined, 2), of('person', 3, 7), of('person', 3, 9), of('user', 4), of(undefined, 5)];
    const found = find({}, facts.flat()).facts.map(({ eventSequence }) => eventSequence);
    expect(found).toEqual([9, 7, 4, 5, 2]);
  });

  it('facts are found by task, subject, one of several relations, and tag', () => {
    expect(find({ subject: 'src/parser.ts' }).facts).toMatchObject([{ relation: 'modified_by' }]);
    const said = find({ relation: ['summary', 'reviewed_as'] }).facts.map(({ relation }) => relation);
    expect(said.sort()).toEqual(['reviewed_as', 'summary']);
    expect(find({ tag: 'file_change' }).facts).toMatchObject([{ tags: ['file_change'] }]);
    expect(find({ relation: 'summary', tag: 'file_change' }).total).toBe(0);
  });

  it('a cursor of another list is refused, with what to do', () => {
    expect(() => find({ cursor: 'nonsense' })).toThrow(/^cursor: is not one of this list: send the next/);
  });

  it('the pages of a list join to the list as it was, whatever is said and closed between them', () => {
    const results = fc.array(roleResults, { minLength: 1, maxLength: 12 });
    const is = fc.constantFrom('open' as const, 'closed' as const, 'all' as const);
    fc.assert(
      fc.property(results, results, is, fc.integer({ min: 1, max: 7 }), (first, later, which, limit) => {
        const store = storeOf(first.map((result, index) => [index + 1, result] as const));
        const whole = find({ is: which, limit: 200 }, store.all()).facts.map(placeOf);
        const waiting = later.map((result, index) => factsFrom(first.length + index + 1, result));
        let isFirst = true;
        const found = allPages({ is: which, limit }, () => {
          if (!isFirst) store.add(waiting.shift() ?? []);
          isFirst = false;
          return store.all();
        });
        expect(found.map(placeOf)).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });
});

function placeOf({ dispatch, id }: FoundFact): string {
  return `${dispatch} ${id}`;
}

describe('one fact', () => {
  const finding = STORE.all().find(({ relation }) => relation === 'must_fix') ?? expect.fail();

  it('a fact is shown with the others about its subject, and the result that closed it', () => {
    const { fact, history, closed_by: closedBy } = factHistory(STORE.all(), finding);
    expect(fact).toMatchObject({ object: 'Return an empty list', id: finding.id });
    expect(closedBy).toMatchObject({ dispatch: 9, at: timeOf(9), role: 'reviewer', task: '1' });
    // A note carries the number of the newest result, and closes nothing.
    const note = {
      ...finding,
      id: 'note',
      ref: 'N1',
      sourceSequence: 9,
      sourceTaskId: 'N1',
      sourceRole: 'observer' as const,
    };
    expect(factHistory([note, ...STORE.all()], finding).closed_by).toEqual(closedBy);
    expect(history.length).toBeGreaterThan(0);
    expect(new Set(history.map(({ subject }) => subject))).toEqual(new Set([finding.subject]));
    const dispatches = history.map(({ dispatch }) => dispatch);
    expect(dispatches).toEqual(dispatches.toSorted((a, b) => b - a));
  });

  it('an id stands for one fact, by four characters that fit no other', () => {
    const { id } = finding;
    for (const given of [id, id.slice(0, 4), id.toUpperCase()])
      expect(factOfId(STORE.all(), given)).toEqual({ fact: finding });
    expect(factOfId(STORE.all(), id.slice(0, 3))).toEqual({ candidates: [] });
  });
});

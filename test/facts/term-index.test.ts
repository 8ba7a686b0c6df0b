import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEVERITIES } from '../../src/contracts/severity.js';
import { KeywordFactRetriever } from '../../src/facts/fact-retriever.js';
import { InMemorySessionFactStore } from '../../src/facts/fact-store.js';
import type { FactQuery, SessionFact, SessionFactTag } from '../../src/facts/fact-types.js';
import { TermIndex } from '../../src/facts/term-index.js';
import { words } from '../../src/search/tokenize.js';
import { fact, factsFrom, roleResults } from '../support/builders.js';

/** The same choice by looking at every fact: what the index must give as well. */
function byScan(facts: readonly SessionFact[], query: FactQuery): [SessionFact, number][] {
  const asked = words(query.taskDescription);
  const scoreOf = ({ subject, relation, object }: SessionFact) => {
    const held = words(`${subject} ${relation} ${object}`);
    return asked.size === 0 ? 0 : [...asked].filter((word) => held.has(word)).length / asked.size;
  };
  return facts
    .filter(({ sourceTaskId }) => sourceTaskId !== query.taskId)
    .filter((each) => query.tags === undefined || each.tags.some((tag) => query.tags?.includes(tag)))
    .map((each) => ({ each, score: scoreOf(each) }))
    .sort(
      (a, b) =>
        b.score - a.score || rank(a.each) - rank(b.each) || b.each.sourceSequence - a.each.sourceSequence,
    )
    .slice(0, query.maxFacts)
    .map(({ each, score }) => [each, score]);
}

/** Critical findings come before important ones, these before what is said in words, and that before bare outcomes. */
const rank = ({ severity, relation }: SessionFact) => {
  if (severity === 'critical') return 0;
  if (severity === 'important') return 1;
  return ['completed_with', 'reviewed_as', 'modified_by'].includes(relation) ? 3 : 2;
};
const RELATIONS = ['completed_with', 'summary', 'modified_by', 'must_fix'];
const TAGS: readonly SessionFactTag[] = ['test', 'error', 'decision'];
const wantedTags = fc.option(fc.subarray([...TAGS]), { nil: undefined });
const someWords = fc.subarray(['reader', 'writer', 'log', 'tail', 'load', 'module', 'two', 'under']);

describe('the term index', () => {
  it('the term index chooses as a scan does among many facts, whatever order their dispatches came in', () => {
    const facts = fc.array(
      fc.record({
        held: someWords,
        at: fc.integer({ min: 1, max: 40 }),
        task: fc.constantFrom('1', '2', '3'),
        relation: fc.constantFrom(...RELATIONS),
        tags: fc.subarray([...TAGS]),
        severity: fc.option(fc.constantFrom(...SEVERITIES), { nil: undefined }),
        removed: fc.boolean(),
      }),
      { minLength: 20, maxLength: 200, size: 'max' },
    );
    const questions = fc.record({ asked: someWords, maxFacts: fc.nat(12), tags: wantedTags });
    fc.assert(
      fc.property(facts, fc.boolean(), fc.array(questions, { minLength: 1 }), (made, inOrder, queries) => {
        const index = new TermIndex();
        const all = made.map(({ held, at, task, relation, tags, severity }, n) =>
          fact({
            relation,
            id: `${n}`,
            object: ['said', ...held].join(' '),
            sourceSequence: inOrder ? Math.ceil(n / 3) : at,
            sourceTaskId: task,
            tags,
            severity,
          }),
        );
        for (const each of all) index.add(each);
        for (const [n, each] of all.entries()) if (made[n]?.removed) index.remove(each);
        const left = all.filter((_, n) => !made[n]?.removed);
        for (const { asked, maxFacts, tags } of queries) {
          const query = { taskDescription: asked.join(' '), taskId: '2', maxFacts, tags, maxTokens: 0 };
          const chosen = index.best(asked, query).map((each) => [each.fact, each.hits / (asked.length || 1)]);
          expect(chosen).toEqual(byScan(left, query));
        }
      }),
    );
  });

  it('the term index chooses as a scan of all facts does, at every step of a store that changes', () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ add: roleResults, at: fc.integer({ min: 1, max: 12 }) }),
        fc.record({ compact: fc.nat(20) }),
      ),
      { maxLength: 15 },
    );
    const questions = fc.constantFrom('check the bounds', 'src/a.ts', 'task 2', 'never passed', '');
    fc.assert(
      fc.property(steps, questions, fc.nat(8), wantedTags, (changes, taskDescription, maxFacts, tags) => {
        const store = new InMemorySessionFactStore();
        const query = { taskDescription, taskId: '2', maxFacts, tags, maxTokens: 1_000_000 };
        for (const change of changes) {
          if ('add' in change) store.add(factsFrom(change.at, change.add));
          else store.compact(change.compact);
          const ranked = new KeywordFactRetriever(store).rank(query);
          expect(ranked.map((each) => [each.fact, each.score])).toEqual(byScan(store.getValid(), query));
        }
      }),
    );
  });

  it('the term index forgets a fact that was closed, and finds the one that closed it', () => {
    const store = new InMemorySessionFactStore();
    const said = (object: string, sourceSequence: number) =>
      fact({ id: object, subject: 'task:1', relation: 'summary', object, sourceSequence });
    const found = (...asked: string[]) =>
      store.best(asked, { taskId: 'none', maxFacts: 10 }).map(({ fact: { object }, hits }) => [object, hits]);
    store.add([said('parser', 1)]);
    expect(found('parser')).toEqual([['parser', 1]]);
    store.add([said('printer', 2)]);
    expect(found('parser')).toEqual([['printer', 0]]);
    expect(found('printer', 'summary')).toEqual([['printer', 2]]);
    store.invalidate('task:1', 'summary', { sequence: 3, at: '2026-01-01T00:00:00.000Z' });
    expect(found('printer')).toEqual([]);
  });

  it('the term index stays right over hundreds of facts that come and go', () => {
    const store = new InMemorySessionFactStore();
    const query = { taskDescription: 'check part 3', taskId: 'none', maxFacts: 7, maxTokens: 1_000_000 };
    for (let n = 1; n <= 600; n += 1) {
      store.add([
        fact({ id: `${n}`, subject: `part ${n % 90}`, object: `check ${n % 7}`, sourceSequence: n }),
      ]);
      if (n % 50 !== 0) continue;
      const ranked = new KeywordFactRetriever(store).rank(query);
      expect(ranked.map((each) => [each.fact, each.score])).toEqual(byScan(store.getValid(), query));
    }
    expect(store.count()).toBe(90);
  });
});

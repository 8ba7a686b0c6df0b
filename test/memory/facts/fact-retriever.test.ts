import { describe, expect, it } from 'vitest';
import { tokensOf } from '../../../src/memory/facts/fact-hits.js';
import { KeywordFactRetriever } from '../../../src/memory/facts/fact-ranking.js';
import { InMemorySessionFactStore } from '../../../src/memory/facts/fact-store.js';
import type { FactQuery, SessionFact } from '../../../src/memory/facts/fact-types.js';
import { fact, factsFrom, implementer, reviewer, roleResults } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

function retrieverOf(facts: readonly SessionFact[]): KeywordFactRetriever {
  const store = new InMemorySessionFactStore();
  store.add(facts);
  return new KeywordFactRetriever(store);
}

function query(overrides: Partial<FactQuery> = {}): FactQuery {
  return {
    taskDescription: 'write the session store',
    taskId: '9',
    maxFacts: 10,
    maxTokens: 500,
    ...overrides,
  };
}

const subjects = (facts: readonly SessionFact[]) => facts.map((each) => each.subject);

describe('the retriever', () => {
  it('the retriever has nothing to say of an empty store', () => {
    expect(retrieverOf([]).retrieve(query())).toEqual([]);
  });

  it('the retriever gives the valid facts only', () => {
    const newer = fact({ sourceSequence: 2, sourceTaskId: '2' });
    expect(retrieverOf([fact(), newer]).retrieve(query())).toEqual([newer]);
  });

  it('the retriever leaves out what the task itself said, but not a task with a similar id', () => {
    const facts = ['1', '11', '1.1'].map((sourceTaskId) => fact({ subject: sourceTaskId, sourceTaskId }));
    expect(subjects(retrieverOf(facts).retrieve(query({ taskId: '1' })))).toEqual(['11', '1.1']);
  });

  it('the retriever gives the facts that carry one of the tags', () => {
    const facts = [
      fact({ subject: 'a', tags: ['test', 'error'] }),
      fact({ subject: 'b', tags: ['decision'] }),
      fact({ subject: 'c', tags: ['error'] }),
    ];
    const retriever = retrieverOf(facts);
    expect(subjects(retriever.retrieve(query({ tags: ['error'] })))).toEqual(['a', 'c']);
    expect(subjects(retriever.retrieve(query({ tags: [] })))).toEqual([]);
    expect(subjects(retriever.retrieve(query({ tags: undefined })))).toEqual(['a', 'b', 'c']);
  });

  it('the retriever puts the facts that share more words with the task first', () => {
    const facts = [
      fact({ subject: 'docs/readme.md', sourceSequence: 3 }),
      fact({ subject: 'src/session/store.ts', sourceSequence: 1 }),
      fact({ subject: 'src/session/evolve-session.ts', sourceSequence: 2 }),
    ];
    expect(subjects(retrieverOf(facts).retrieve(query()))).toEqual([
      'src/session/store.ts',
      'src/session/evolve-session.ts',
      'docs/readme.md',
    ]);
  });

  it('the retriever puts the newer dispatch first where scores are equal, and keeps the order within one', () => {
    const facts = [
      fact({ subject: 'c', sourceSequence: 2 }),
      fact({ subject: 'a', sourceSequence: 7 }),
      fact({ subject: 'b', sourceSequence: 7 }),
      fact({ subject: 'd', sourceSequence: 3 }),
    ];
    expect(subjects(retrieverOf(facts).retrieve(query()))).toEqual(['a', 'b', 'd', 'c']);
  });

  it('the retriever puts what is said in words before verdicts and modified files of equal score', () => {
    const said = factsFrom(
      1,
      implementer({ summary: 'parse by hand', files_modified: ['b.ts'], follow_up_actions: ['tell ops'] }),
    );
    const verdict = factsFrom(2, reviewer({ assessment: 'approved' }));
    const ranked = retrieverOf([...said, ...verdict]).retrieve(query({ taskDescription: '' }));
    expect(ranked.map(({ relation }) => relation)).toEqual(
      'summary requires reviewed_as completed_with modified_by'.split(' '),
    );
  });

  it('the retriever goes by recency alone when the task has no word that counts', () => {
    const facts = [fact({ subject: 'the', sourceSequence: 1 }), fact({ subject: 'x', sourceSequence: 2 })];
    const ranked = retrieverOf(facts).rank(query({ taskDescription: 'to be or not to be: of the' }));
    expect(ranked.map(({ fact: { subject }, score }) => [subject, score])).toEqual([
      ['x', 0],
      ['the', 0],
    ]);
  });

  it('the retriever stops at the first fact that is over the token budget', () => {
    const facts = [
      fact({ subject: 'aaaa', relation: 'bbbb', object: 'cccc', sourceSequence: 3 }),
      fact({ subject: 'aaaa', relation: 'dddd', object: 'c'.repeat(40), sourceSequence: 2 }),
      fact({ subject: 'a', relation: 'b', object: 'c', sourceSequence: 1 }),
    ];
    const relations = (maxTokens: number) =>
      retrieverOf(facts)
        .retrieve(query({ maxTokens }))
        .map((each) => each.relation);
    expect(relations(2)).toEqual([]);
    expect(relations(3)).toEqual(['bbbb']);
    expect(relations(14)).toEqual(['bbbb']);
    expect(relations(15)).toEqual(['bbbb', 'dddd']);
    expect(relations(16)).toEqual(['bbbb', 'dddd', 'b']);
  });

  it('the retriever puts severe findings first, and findings before what else is said', () => {
    const issue = (sourceSequence: number, severity: 'critical' | 'important' | 'minor') =>
      fact({ subject: severity, relation: 'issue', object: 'the pool leaks', severity, sourceSequence });
    const facts = [
      issue(1, 'critical'),
      issue(2, 'important'),
      issue(3, 'minor'),
      fact({ subject: 'news', relation: 'are', object: 'of the pool', sourceSequence: 4 }),
    ];
    const retriever = retrieverOf(facts);
    const asked = query({ taskDescription: 'mend the pool' });
    expect(subjects(retriever.retrieve(asked))).toEqual(['critical', 'important', 'minor', 'news']);
    expect(subjects(retriever.retrieve({ ...asked, maxFacts: 1 }))).toEqual(['critical']);
  });

  it('the retriever keeps every limit', () => {
    fc.assert(
      fc.property(
        fc.array(roleResults, { maxLength: 10 }),
        fc.constantFrom('check the bounds', 'src/a.ts', 'task 2', ''),
        fc.nat(20),
        fc.nat(100),
        (results, taskDescription, maxFacts, maxTokens) => {
          const facts = results.flatMap((returned, index) => factsFrom(index + 1, returned));
          const ranked = retrieverOf(facts).rank(
            query({ taskDescription, taskId: '2', maxFacts, maxTokens }),
          );
          expect(ranked.length).toBeLessThanOrEqual(maxFacts);
          expect(ranked.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(maxTokens);
          expect(ranked.some((entry) => entry.fact.sourceTaskId === '2')).toBe(false);
          const scores = ranked.map(({ score }) => score);
          expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        },
      ),
    );
  });
});

describe('tokensOf', () => {
  it('tokensOf counts four characters a token, rounded up', () => {
    expect(tokensOf({ subject: 'ab', relation: 'c', object: 'd' })).toBe(1);
    expect(tokensOf({ subject: 'ab', relation: 'cd', object: 'e' })).toBe(2);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeywordFactRetriever, tokensOf } from '../../src/facts/fact-retriever.js';
import { InMemorySessionFactStore } from '../../src/facts/fact-store.js';
import type { FactQuery, SessionFact } from '../../src/facts/fact-types.js';
import { words } from '../../src/search/tokenize.js';
import { fact, factsFrom, implementer, reviewer, roleResults } from '../support/builders.js';

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
    expect(
      retrieverOf(facts)
        .rank(query())
        .map(({ fact: { subject }, score }) => [subject, score]),
    ).toEqual([
      ['src/session/store.ts', 2 / 3],
      ['src/session/evolve-session.ts', 1 / 3],
      ['docs/readme.md', 0],
    ]);
  });

  it('the retriever finds words in relation and object too, in any case', () => {
    const facts = [
      fact({ subject: 'a', relation: 'WRITE' }),
      fact({ subject: 'b', object: '(Session) STORE' }),
    ];
    expect(
      retrieverOf(facts)
        .rank(query())
        .map(({ score }) => score),
    ).toEqual([2 / 3, 1 / 3]);
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

  it('the retriever gives no more than maxFacts, the best ones', () => {
    const facts = [fact({ subject: 'x' }), fact({ subject: 'store' }), fact({ subject: 'session/store' })];
    const retriever = retrieverOf(facts);
    expect(subjects(retriever.retrieve(query({ maxFacts: 2 })))).toEqual(['session/store', 'store']);
    expect(retriever.retrieve(query({ maxFacts: 0 }))).toEqual([]);
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

  it('the retriever gives findings of equal score by severity, whatever their age', () => {
    const issue = (sourceSequence: number, severity: 'critical' | 'important' | 'minor', object = 'leaks') =>
      fact({ subject: severity, relation: 'issue', object, severity, sourceSequence });
    const facts = [
      issue(1, 'critical'),
      issue(2, 'important'),
      issue(3, 'minor'),
      fact({ subject: 'news', sourceSequence: 4 }),
    ];
    const retriever = retrieverOf(facts);
    expect(subjects(retriever.retrieve(query()))).toEqual(['critical', 'important', 'minor', 'news']);
    expect(subjects(retriever.retrieve(query({ taskDescription: 'the news' })))[0]).toBe('news');
    expect(subjects(retriever.retrieve(query({ maxFacts: 1 })))).toEqual(['critical']);
  });

  it('the retriever keeps every limit, and ranks by score, then by severity, then by recency', () => {
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
          const isBare = (relation: string) =>
            ['completed_with', 'reviewed_as', 'modified_by'].includes(relation);
          const urgency = ({ severity, relation }: SessionFact) =>
            severity === 'critical' ? 3 : severity === 'important' ? 2 : isBare(relation) ? 0 : 1;
          const order = (entry: (typeof ranked)[number]) =>
            entry.score * 1000 + urgency(entry.fact) + entry.fact.sourceSequence / 1000;
          expect(ranked.map(order)).toEqual(ranked.map(order).toSorted((a, b) => b - a));
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

describe('words', () => {
  it('words are split at every separator of the document, in lower case, each once', () => {
    expect([...words('src/Session-store_v2.ts,x:y;z(q)[r]{s}\nSRC')]).toEqual(
      'src session store v2 ts x y z q r s'.split(' '),
    );
  });

  it('words leave out exactly the stopwords of the document', () => {
    const stopwords =
      'a an the is are was were be been being have has had do does did will would shall should may might can ' +
      'could of in to for with on at by from as or and but not no this that it its';
    expect([...words(`${stopwords} The IT when`)]).toEqual(['when']);
  });
});

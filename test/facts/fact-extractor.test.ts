import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImplementerResult, ReviewerResult } from '../../src/contracts/results.js';
import { type ExtractionRule, IMPLEMENTER_RULES, REVIEWER_RULES } from '../../src/facts/extraction-rules.js';
import { RuleBasedFactExtractor } from '../../src/facts/fact-extractor.js';
import { factId, recordedFact } from '../../src/facts/fact-id.js';
import type { SessionFactTag } from '../../src/facts/fact-types.js';
import { implementer, originOf, reviewer, roleResults, sayings, timeOf } from '../support/builders.js';

const broken = {
  name: 'broken',
  extract: () => {
    throw new Error('this rule is broken');
  },
};

function says<Result>(name: string, object: string): ExtractionRule<Result> {
  return { name, extract: (_result, taskId) => [recordedFact(taskId, 'says', object, []) ?? []].flat() };
}

function implementerResult(overrides: Parameters<typeof implementer>[0] = {}): ImplementerResult {
  const returned = implementer(overrides);
  if (returned.role !== 'implementer') throw new Error('not an implementer result');
  return returned.result;
}

function reviewerResult(): ReviewerResult {
  const returned = reviewer();
  if (returned.role !== 'reviewer') throw new Error('not a reviewer result');
  return returned.result;
}

describe('a rule that fails', () => {
  it('a rule that fails is reported with its error, and the others still run', () => {
    const reported: [string, unknown][] = [];
    const extractor = new RuleBasedFactExtractor({
      implementerRules: [says('first', 'one'), broken, says('last', 'two')],
      reviewerRules: [broken, says('only', 'three')],
      onRuleFailure: (rule, error) => reported.push([rule, error]),
    });
    expect(sayings(extractor.extractFromImplementer(implementerResult(), originOf(1)))).toEqual([
      '1 says one',
      '1 says two',
    ]);
    expect(sayings(extractor.extractFromReviewer(reviewerResult(), originOf(2)))).toEqual(['1 says three']);
    expect(reported).toEqual([
      ['broken', new Error('this rule is broken')],
      ['broken', new Error('this rule is broken')],
    ]);
  });

  it('a rule that fails is passed over when no listener is given', () => {
    const extractor = new RuleBasedFactExtractor({ implementerRules: [broken, says('last', 'two')] });
    expect(sayings(extractor.extractFromImplementer(implementerResult(), originOf(1)))).toEqual([
      '1 says two',
    ]);
  });

  it('a rule leaves out one malformed field and no other', () => {
    const reported: string[] = [];
    const extractor = new RuleBasedFactExtractor({ onRuleFailure: (rule) => reported.push(rule) });
    // A result that never passed the contract: what a rule must be guarded against.
    const malformed: ImplementerResult = Object.assign(implementerResult({ follow_up_actions: ['go on'] }), {
      files_modified: 7,
    });
    expect(sayings(extractor.extractFromImplementer(malformed, originOf(1)))).toEqual([
      'task:1 completed_with completed',
      'task:1 summary added the store',
      'task:1 requires go on',
    ]);
    expect(reported).toEqual(['files_modified']);
  });
});

describe('a fact', () => {
  it('a fact carries its dispatch, and the role of the method that found it', () => {
    const extractor = new RuleBasedFactExtractor({ reviewerRules: [says('only', 'x')] });
    const [found] = extractor.extractFromReviewer(reviewerResult(), originOf(7, { role: 'implementer' }));
    expect(found).toMatchObject({
      sourceRole: 'reviewer',
      sourceTaskId: '1',
      sourceSequence: 7,
      validFrom: timeOf(7),
      eventSequence: 0,
      confidence: 1,
    });
    expect(found).not.toHaveProperty('validTo');
  });

  it('a fact is kept once, as the first rule gave it', () => {
    const tagged = (name: string, tags: readonly SessionFactTag[]): ExtractionRule<ImplementerResult> => ({
      name,
      extract: () => [recordedFact('1', 'says', 'x', tags) ?? []].flat(),
    });
    const rules = [tagged('first', ['test']), tagged('second', ['error'])];
    const extractor = new RuleBasedFactExtractor({ implementerRules: rules });
    expect(extractor.extract(implementer(), '1')).toMatchObject({
      facts: [{ object: 'x', tags: ['test'] }],
      omitted: 0,
    });
  });
});

describe('the extractor', () => {
  it('the extractor keeps the first facts up to its limit, and counts the others', () => {
    const extractor = new RuleBasedFactExtractor({ maxFacts: 3 });
    const returned = implementer({ files_modified: ['a', 'b', 'c'] });
    const { facts, omitted } = extractor.extract(returned, '1');
    expect(facts.map((fact) => fact.relation)).toEqual(['completed_with', 'summary', 'modified_by']);
    expect(omitted).toBe(2);
  });

  it('the extractor runs every rule of the document, by name', () => {
    expect(IMPLEMENTER_RULES.map((rule) => rule.name)).toEqual([
      'status',
      'summary',
      'files_modified',
      'follow_up_actions',
      'tests',
    ]);
    expect(REVIEWER_RULES.map((rule) => rule.name)).toEqual([
      'assessment',
      'issues',
      'required_fixes',
      'conventions',
    ]);
  });

  it('the extractor finds the same facts each time, each once, and fails on no valid result', () => {
    const failed: string[] = [];
    const extractor = new RuleBasedFactExtractor({ onRuleFailure: (rule) => failed.push(rule) });
    fc.assert(
      fc.property(roleResults, (returned) => {
        const { facts } = extractor.extract(returned, returned.result.task_id);
        expect(extractor.extract(returned, returned.result.task_id).facts).toEqual(facts);
        expect(new Set(facts.map(factId)).size).toBe(facts.length);
        expect(failed).toEqual([]);
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { ResultField } from '../../../src/contracts/kinds.js';
import {
  EXTRACTION_RULES,
  type ExtractionRule,
  RuleBasedFactExtractor,
} from '../../../src/memory/facts/fact-extractor.js';
import { createFactId, recordedFact } from '../../../src/memory/facts/fact-types.js';
import { implementer, originOf, reviewer, roleResults, sayings, timeOf } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

const broken = {
  name: 'broken',
  extract: () => {
    throw new Error('this rule is broken');
  },
};

function says(name: string, object: string, field?: ResultField): ExtractionRule {
  return {
    name,
    ...(field && { field }),
    extract: (_result, taskId) => [recordedFact(taskId, 'says', object, []) ?? []].flat(),
  };
}

it.each(['decides', 'Decision', 'decided on', 'chose'])(
  'a fact with the relation %j is a decision',
  (relation) => {
    const { result } = implementer({ facts: [{ subject: 'discounts', relation, object: 'round down' }] });
    const found = new RuleBasedFactExtractor().extractFromImplementer(result, originOf(1));
    expect(sayings(found)).toContain('discounts decided round down');
  },
);

describe('a rule that fails', () => {
  it('a rule that fails is reported with its error, and the others still run', () => {
    const reported: [string, unknown][] = [];
    const extractor = new RuleBasedFactExtractor({
      rules: [says('first', 'one'), broken, says('work', 'two', 'tests'), says('review', 'three', 'issues')],
      onRuleFailure: (rule, error) => reported.push([rule, error]),
    });
    expect(sayings(extractor.extractFromImplementer(implementer().result, originOf(1)))).toEqual([
      '1 says one',
      '1 says two',
    ]);
    expect(sayings(extractor.extractFromReviewer(reviewer().result, originOf(2)))).toEqual([
      '1 says one',
      '1 says three',
    ]);
    expect(reported).toEqual([
      ['broken', new Error('this rule is broken')],
      ['broken', new Error('this rule is broken')],
    ]);
  });

  it('a rule leaves out one malformed field and no other', () => {
    const reported: string[] = [];
    const extractor = new RuleBasedFactExtractor({ onRuleFailure: (rule) => reported.push(rule) });
    // A result that never passed the contract: what a rule must be guarded against.
    const malformed = Object.assign(implementer({ follow_up_actions: ['go on'] }).result, {
      files_modified: 7 as unknown as string[],
    });
    expect(sayings(extractor.extractFromImplementer(malformed, originOf(1)))).toEqual([
      'task:1 completed_with completed',
      'task:1 summary added the store',
      'task:1 requires go on',
    ]);
    expect(reported).toEqual(['files_modified']);
  });

  it('a lone text in place of a list is one fact, and not one of each letter', () => {
    const lone = { files_modified: 'src/a.ts', follow_up_actions: 'go on' } as unknown as object;
    const result = Object.assign(implementer().result, lone);
    const [, , ...found] = sayings(new RuleBasedFactExtractor().extractFromImplementer(result, originOf(1)));
    expect(found).toEqual(['src/a.ts modified_by task:1', 'task:1 requires go on']);
  });
});

describe('a fact', () => {
  it('a fact carries its dispatch, and the role of the method that found it', () => {
    const extractor = new RuleBasedFactExtractor({ rules: [says('only', 'x')] });
    const [found] = extractor.extractFromReviewer(reviewer().result, originOf(7, { role: 'implementer' }));
    expect(found).toMatchObject({
      id: createFactId(found?.subject ?? '', found?.relation ?? '', found?.object ?? ''),
      sourceRole: 'reviewer',
      sourceTaskId: '1',
      sourceSequence: 7,
      validFrom: timeOf(7),
      eventSequence: 0,
      confidence: 1,
    });
    expect(found).not.toHaveProperty('validTo');
  });
});

describe('the extractor', () => {
  it('the extractor keeps as many facts as fit an event, however long their characters are', () => {
    const issues = Array.from({ length: 200 }, (_, n) => ({
      severity: 'minor' as const,
      file: `${n}/${'😀'.repeat(150)}`,
      message: '😀'.repeat(500),
      fix: '😀'.repeat(500),
    }));
    const { facts, omitted } = new RuleBasedFactExtractor().extract(reviewer({ issues }), '1');
    expect(Buffer.byteLength(JSON.stringify(facts))).toBeLessThan(300_000);
    expect(facts.length).toBeGreaterThan(50);
    expect(facts.length + omitted).toBeGreaterThan(200);
  });

  it('the extractor runs every rule of the document, by name', () => {
    expect(EXTRACTION_RULES.map((rule) => rule.name)).toEqual([
      'verdict',
      'summary',
      'files_modified',
      'follow_up_actions',
      'tests',
      'issues',
      'required_fixes',
      'conventions',
      'facts',
      'suggestions',
      'branch',
      'blockers',
      'commit',
      'decisions',
      'failed',
      'questions',
    ]);
  });

  it('the extractor finds the same facts each time, each once, and fails on no valid result', () => {
    const failed: string[] = [];
    const extractor = new RuleBasedFactExtractor({ onRuleFailure: (rule) => failed.push(rule) });
    fc.assert(
      fc.property(roleResults, (returned) => {
        const { facts } = extractor.extract(returned, returned.result.task_id);
        expect(extractor.extract(returned, returned.result.task_id).facts).toEqual(facts);
        expect(
          new Set(facts.map(({ subject, relation, object }) => createFactId(subject, relation, object))).size,
        ).toBe(facts.length);
        expect(failed).toEqual([]);
      }),
    );
  });
});

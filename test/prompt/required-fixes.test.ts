import { describe, expect, it } from 'vitest';
import type { DigestIssue } from '../../src/ledger/outcome-digest.js';
import { locatedFixes } from '../../src/prompt/dispatch-prompt.js';

const ISSUES: readonly DigestIssue[] = [
  {
    severity: 'critical',
    file: 'src/parse.ts',
    message: 'Empty input returns NaN instead of throwing',
    fix: 'Throw a RangeError when no unit was read',
  },
  {
    severity: 'important',
    file: 'src/parse.ts',
    message: 'Accepts "5"',
    fix: 'Require a unit after each number',
  },
  { severity: 'minor', file: 'test/parse.test.ts', message: 'Case 7 is missing' },
  { severity: 'minor', message: 'The summary names no limit' },
];

describe('a required fix', () => {
  it.each([
    [
      'in other words',
      'Empty input must throw a RangeError, not return NaN',
      'Empty input must throw a RangeError, not return NaN (src/parse.ts; fix: Throw a RangeError when no unit was read)',
    ],
    [
      'as the suggested fix itself, which is not said twice',
      'Require a unit after each number',
      'Require a unit after each number (src/parse.ts)',
    ],
    ['without a suggested fix', 'Add the missing case 7', 'Add the missing case 7 (test/parse.test.ts)'],
    [
      'with its file already',
      'src/parse.ts: empty input must throw, not return NaN',
      'src/parse.ts: empty input must throw, not return NaN (fix: Throw a RangeError when no unit was read)',
    ],
    ['of an issue without file and fix', 'Name the limit in the summary', 'Name the limit in the summary'],
  ])('a required fix names file and suggested fix of its issue: %s', (_how, text, located) => {
    expect(locatedFixes([text], ISSUES)).toEqual([{ text: located }]);
  });

  it.each([
    ['of which no issue speaks', 'Make npm run lint pass'],
    ['that shares a single word with an issue', 'Case'],
    ['that shares words with an issue about another number', 'Add the missing case 8'],
    ['without words', '…'],
  ])('a required fix stays as it is: one %s', (_what, text) => {
    expect(locatedFixes([text], ISSUES)).toEqual([{ text }]);
  });

  it('a required fix in the words of an issue is that issue, whatever issue shares more words with it', () => {
    const said: DigestIssue = { severity: 'minor', file: 'a.ts', message: 'Do not throw', fix: 'throw' };
    const other: DigestIssue = {
      severity: 'critical',
      file: 'src/b.ts',
      message: 'do not throw here',
      fix: 'return',
    };
    expect(locatedFixes(['do not throw.'], [other, said])).toEqual([
      { text: 'do not throw. (minor; a.ts; fix: throw)', issue: said },
    ]);
  });
});

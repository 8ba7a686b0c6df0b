import { describe, expect, it } from 'vitest';
import { SEVERITIES } from '../../../src/contracts/kinds.js';
import { asBoolean, asList, asObject, asText } from '../../../src/contracts/reading/repair-rules.js';
import {
  ALIASES,
  meantBy,
  plainName,
  SEVERITY_WORDS,
  VERDICT_WORDS,
} from '../../../src/contracts/reading/synonyms.js';

type Example = readonly [value: unknown, field: string, becomes: unknown];

/** Of each kind of value: what the rules make of a value of a field, and what they leave alone. */
type Repair = (value: unknown, field: string) => unknown;
const EXAMPLES: readonly (readonly [string, Repair, readonly Example[]])[] = [
  [
    'text',
    asText,
    [
      [7, 'task_id', '7'],
      [false, 'summary', 'false'],
      [['a', 'b'], 'summary', 'a; b'],
      [['2.1'], 'task_id', '2.1'],
      [['2.1', '2.2'], 'task_id', undefined],
      [[], 'summary', undefined],
      [{ path: 'a.ts', change: 'new' }, 'files_modified', 'a.ts'],
      [{ change: 'new' }, 'files_modified', undefined],
      [{ id: 7, title: 'Parser' }, 'task_id', '7'],
      [{ file: 'a.ts', message: 'leaks' }, 'required_fixes', 'a.ts: leaks'],
      [{ suggestion: 'close it' }, 'required_fixes', 'close it'],
      [{}, 'summary', undefined],
    ],
  ],
  [
    'true or false',
    asBoolean,
    [
      ['Yes.', 'passed', true],
      ['PASSED', 'passed', true],
      ['✅', 'passed', true],
      ['failed', 'passed', false],
      ['maybe', 'passed', undefined],
      [1, 'passed', undefined],
    ],
  ],
  [
    'list',
    asList,
    [
      ['None', 'blockers', []],
      ['n/a', 'blockers', []],
      ['', 'blockers', []],
      ['no database', 'blockers', ['no database']],
      ['["a", "b"]', 'files_modified', ['a', 'b']],
      ['[x] a', 'follow_up_actions', ['[x] a']],
      ['a.ts, b.ts', 'files_modified', ['a.ts', 'b.ts']],
      [{ message: 'x' }, 'issues', [{ message: 'x' }]],
      [2, 'failures', undefined],
      [false, 'blockers', undefined],
    ],
  ],
  [
    'object',
    asObject,
    [
      ['The file leaks', 'issues', { message: 'The file leaks' }],
      ['Which port?', 'questions', { text: 'Which port?' }],
      ['POST /charges', 'artifacts', { name: 'POST /charges' }],
      ['slow', 'facts', undefined],
      [' ', 'issues', undefined],
    ],
  ],
];

describe.each(EXAMPLES)('the repair of a %s', (_, repair, examples) => {
  it.each(examples)('makes of %j, for %s, %j', (value, field, becomes) => {
    const before = JSON.stringify(value);
    expect(repair(value, field)).toEqual(becomes);
    expect(JSON.stringify(value)).toBe(before);
  });
});

describe('the words of verdicts', () => {
  const WORK = ['completed', 'blocked', 'failed'] as const;
  const REVIEW = ['approved', 'needs_changes', 'blocked'] as const;

  it.each([
    ['done', 'completed'],
    ['DONE', 'completed'],
    ['Success!', 'completed'],
    ['✅', 'completed'],
    ['done: all tests pass', 'completed'],
    ['not completed', 'failed'],
    ['Timed out', 'failed'],
    ['stuck (no network)', 'blocked'],
    ['in progress', undefined],
    ['partially completed', undefined],
    ['done or not', undefined],
    ['', undefined],
  ])('a text says how work ended: %j is %s', (text, verdict) => {
    expect(meantBy(text, WORK, VERDICT_WORDS)).toBe(verdict);
  });

  it.each([
    ['LGTM 👍', 'approved'],
    ['looks-good-to-me', 'approved'],
    ['changesRequested', 'needs_changes'],
    ['Needs changes', 'needs_changes'],
    ['REQUEST_CHANGES', 'needs_changes'],
    ['not approved', 'needs_changes'],
    ['approved?', 'approved'],
    ['completed', undefined],
  ])('a text says what a review found: %j is %s', (text, verdict) => {
    expect(meantBy(text, REVIEW, VERDICT_WORDS)).toBe(verdict);
  });

  it.each([WORK, REVIEW])('no word means two verdicts of one kind', (...verdicts) => {
    const words = verdicts.flatMap((verdict) => [verdict.replace('_', ' '), ...VERDICT_WORDS[verdict]]);
    expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([]);
  });

  it.each([
    ['Blocker', 'critical'],
    ['P0', 'critical'],
    ['high', 'important'],
    ['warning', 'important'],
    ['nit', 'minor'],
    ['🟢 low', 'minor'],
    ['odd', undefined],
  ])('a text says how severe an issue is: %j is %s', (text, severity) => {
    expect(meantBy(text, SEVERITIES, SEVERITY_WORDS)).toBe(severity);
  });
});

describe('the other names of fields', () => {
  it('the other names of fields are plain names', () => {
    for (const names of Object.values(ALIASES)) expect(names.map(plainName)).toEqual(names);
  });
});

import { describe, expect, it } from 'vitest';
import {
  BOOLEAN_RULES,
  LIST_RULES,
  MISSING_RULES,
  OBJECT_RULES,
  severityOf,
  TEXT_RULES,
} from '../../../src/contracts/reading/repair-rules.js';
import { ALIASES, meantBy, plainName, VERDICT_WORDS } from '../../../src/contracts/reading/synonyms.js';

type Example = readonly [value: unknown, field: string, becomes: unknown];

/** Of each rule: what it makes of a value of a field, and what it leaves to others. */
const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  number: [
    [7, 'task_id', '7'],
    [false, 'summary', 'false'],
    ['x', 'summary', undefined],
  ],
  'list of texts': [
    [['a', 2], 'summary', 'a; 2'],
    [['2.1'], 'task_id', '2.1'],
    [['2.1', '2.2'], 'task_id', undefined],
    [[], 'summary', undefined],
    [[{}], 'summary', undefined],
  ],
  object: [
    [{ path: 'a.ts', change: 'new' }, 'files_modified', 'a.ts'],
    [{ change: 'new' }, 'files_modified', undefined],
    [{ id: 7, title: 'Parser' }, 'task_id', '7'],
    [{ file: 'a.ts', message: 'leaks', fix: 'close it' }, 'required_fixes', 'a.ts: leaks (fix: close it)'],
    [{ suggestion: 'close it' }, 'required_fixes', 'close it'],
    [{ file: 'a.ts' }, 'required_fixes', 'a.ts'],
    [{}, 'summary', undefined],
    [null, 'summary', undefined],
  ],
  word: [
    ['Yes.', 'passed', true],
    ['**PASSED**', 'passed', true],
    ['✅', 'passed', true],
    ['failed', 'passed', false],
    ['0', 'passed', false],
    ['maybe', 'passed', undefined],
    [1, 'passed', undefined],
  ],
  nothing: [
    ['None', 'blockers', []],
    ['n/a', 'blockers', []],
    ['', 'blockers', []],
    ['no database', 'blockers', undefined],
  ],
  'list in a text': [
    ['["a", "b"]', 'files_modified', ['a', 'b']],
    ['{"message": "x"}', 'issues', [{ message: 'x' }]],
    ['[x] a', 'follow_up_actions', undefined],
  ],
  lines: [
    ['- a\n* b', 'blockers', ['a', 'b']],
    ['1. a\n2) b\n', 'blockers', ['a', 'b']],
    ['a.ts\nb.ts', 'files_modified', ['a.ts', 'b.ts']],
    ['a.ts, b.ts', 'files_modified', ['a.ts', 'b.ts']],
    ['a.ts, and b.ts', 'files_modified', undefined],
    ['one,two', 'blockers', undefined],
    ['It waits.\nFor the other one.', 'blockers', undefined],
  ],
  groups: [
    [{ created: ['a'], modified: ['b'] }, 'files_modified', ['a', 'b']],
    [
      { critical: ['x'], low: [{ message: 'y' }] },
      'issues',
      [
        { severity: 'critical', message: 'x' },
        { severity: 'low', message: 'y' },
      ],
    ],
    [{ a: ['x'], b: 1 }, 'files_modified', undefined],
  ],
  keys: [
    [{ 'a.ts': 'new', 'b.ts': null }, 'files_modified', ['a.ts', 'b.ts']],
    [{ path: 'a.ts' }, 'files_modified', undefined],
    [
      { 'npm test': 'ok', lint: false },
      'tests',
      [
        { command: 'npm test', passed: true },
        { command: 'lint', passed: false },
      ],
    ],
    [{ command: 'npm test', passed: true }, 'tests', undefined],
    [{ a: 'b' }, 'blockers', undefined],
  ],
  'lone value': [
    ['a', 'blockers', ['a']],
    [{ message: 'x' }, 'issues', [{ message: 'x' }]],
    [2, 'failures', undefined],
    [false, 'blockers', undefined],
  ],
  'issue in words': [
    ['The file leaks', 'issues', { severity: 'important', message: 'The file leaks' }],
    ['[Critical] It leaks', 'issues', { severity: 'critical', message: 'It leaks' }],
    ['nit: rename x', 'issues', { severity: 'minor', message: 'rename x' }],
    ['parser: rename x', 'issues', { severity: 'important', message: 'parser: rename x' }],
    ['x', 'tests', undefined],
  ],
  'test in words': [
    ['npm test: passed', 'tests', { command: 'npm test', passed: true }],
    ['✅ npm test', 'tests', { command: 'npm test', passed: true }],
    ['npm test - 12 passed, 0 failed', 'tests', { command: 'npm test', passed: true }],
    [
      'npm test: 11 passed, 1 failed',
      'tests',
      { command: 'npm test', passed: false, failures: ['npm test: 11 passed, 1 failed'] },
    ],
    ['npm test', 'tests', undefined],
  ],
  'question in words': [
    ['Which port?', 'questions', { text: 'Which port?' }],
    ['Which port?', 'facts', undefined],
  ],
  'artifact in words': [
    ['POST /charges', 'artifacts', { name: 'POST /charges' }],
    ['POST /charges', 'facts', undefined],
  ],
  'fact in parts': [
    [['a', 'uses', 2], 'facts', { subject: 'a', relation: 'uses', object: '2' }],
    [['a', 'uses'], 'facts', undefined],
    [['a', 'uses', 'b'], 'issues', undefined],
  ],
  'fact in words': [
    ['slow', 'facts', { subject: 'task:', relation: 'noted', object: 'slow' }],
    [' ', 'facts', undefined],
  ],
  'no severity': [[{ message: 'x' }, 'severity', 'important']],
  'no message': [
    [{ suggestion: 'close it' }, 'message', 'close it'],
    [{ file: 'a.ts' }, 'message', undefined],
  ],
  'no outcome': [
    [{ exitCode: 0 }, 'passed', true],
    [{ exit_code: 1 }, 'passed', false],
    [{ passed: 12, failed: 1 }, 'passed', false],
    [{ passed: 12 }, 'passed', true],
    [{ passed: 12, failures: ['x'] }, 'passed', false],
    [{ passed: 12, failures: [] }, 'passed', true],
    [{ passed: 12, failures: true }, 'passed', false],
    [{ failures: ['x'] }, 'passed', false],
    [{ command: 'npm test' }, 'passed', undefined],
  ],
  'no command': [
    [{ passed: 12, failed: 0 }, 'command', 'tests'],
    [{ passed: true }, 'command', undefined],
  ],
};

const RULES = [...TEXT_RULES, ...BOOLEAN_RULES, ...LIST_RULES, ...OBJECT_RULES, ...MISSING_RULES];

describe.each(RULES)('the repair rule "$name"', ({ name, apply }) => {
  it.each(EXAMPLES[name] ?? [])('a repair rule makes of %j, for %s, %j', (value, field, becomes) => {
    const before = JSON.stringify(value);
    expect(apply(value, field)).toEqual(becomes);
    expect(JSON.stringify(value)).toBe(before);
  });

  it('a repair rule has an example of what it does', () => {
    expect(EXAMPLES[name]?.some(([, , becomes]) => becomes !== undefined)).toBe(true);
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
    expect(severityOf(text)).toBe(severity);
  });
});

describe('the other names of fields', () => {
  it('the other names of fields are plain names', () => {
    for (const names of Object.values(ALIASES)) expect(names.map(plainName)).toEqual(names);
  });
});

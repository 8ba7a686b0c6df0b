import { describe, expect, it } from 'vitest';
import { KEPT } from '../../../src/contracts/kept-limits.js';
import type { RoleResult } from '../../../src/contracts/results.js';
import { factsFrom, implementer, reviewer, sayings } from '../../support/builders.js';

const STATUS = 'task:1 completed_with completed';
const SUMMARY = 'task:1 summary added the store';
const ASSESSED = 'task:1 reviewed_as needs_changes';

function taggedWith(returned: RoleResult, relation: string): readonly string[] | undefined {
  return factsFrom(1, returned).find((fact) => fact.relation === relation)?.tags;
}

describe('from an implementer result', () => {
  it.each<[string, RoleResult, string[]]>([
    ['status and summary', implementer(), [STATUS, SUMMARY]],
    [
      'each file',
      implementer({ files_modified: ['src/a.ts', 'src/b.ts'] }),
      [STATUS, SUMMARY, 'src/a.ts modified_by task:1', 'src/b.ts modified_by task:1'],
    ],
    [
      'each follow-up action',
      implementer({ follow_up_actions: ['write docs', 'add a bench'] }),
      [STATUS, SUMMARY, 'task:1 requires write docs', 'task:1 requires add a bench'],
    ],
    [
      'a test run that passed',
      implementer({ tests: [{ command: 'npm test', passed: true, failures: ['old text'] }] }),
      [STATUS, SUMMARY, 'test:npm test test_result passed in task:1'],
    ],
    [
      'each failure of a test run',
      implementer({ tests: [{ command: 'npm test', passed: false, failures: ['fold', 'store'] }] }),
      [
        STATUS,
        SUMMARY,
        'test:npm test test_result failed in task:1: fold',
        'test:npm test test_result failed in task:1: store',
      ],
    ],
    [
      'a failed test run without a word',
      implementer({ tests: [{ command: 'npm test', passed: false }] }),
      [STATUS, SUMMARY, 'test:npm test test_result failed in task:1: no failure text given'],
    ],
    [
      'the same file once',
      implementer({ files_modified: ['a', 'a'] }),
      [STATUS, SUMMARY, 'a modified_by task:1'],
    ],
    ['no fact from empty words', implementer({ files_modified: ['', ' \n'] }), [STATUS, SUMMARY]],
    [
      'its blockers',
      implementer({ blockers: ['no access'] }),
      [STATUS, SUMMARY, 'task:1 blocked_by no access'],
    ],
  ])('an implementer result gives these facts: %s', (_what, returned, expected) => {
    expect(sayings(factsFrom(1, returned))).toEqual(expected);
  });

  it.each([
    [
      'We keep sessions in redis because writes dominate',
      'We keep sessions in redis because writes dominate',
    ],
    [
      'Added the upload. We decided to resize avatars in the browser. Tests pass.',
      'Resize avatars in the browser.',
    ],
  ])('a summary that states a decision is one as well: %s', (summary, decision) => {
    const facts = factsFrom(1, implementer({ summary }));
    expect(sayings(facts.filter(({ relation }) => relation === 'decided'))).toEqual([
      `task:1 decided ${decision}`,
    ]);
  });

  it.each([
    'Use path.join instead of string concatenation',
    'Tests are skipped because docker is missing',
    'Fixed the crash that occurred because the handle was closed',
    'Probe server health during the run, not after',
    'It seems that the value is used because the caller passes a float',
    'The cache is cleared on shutdown',
    'Sessions are kept in redis because writes dominate',
    'The public API is versioned by header, not by path',
    'The original author decided to use a hand-written lexer',
    'If we decided to use MongoDB, the schema would change',
  ])('a summary that says only what was done does not state a decision: %s', (summary) => {
    expect(taggedWith(implementer({ summary }), 'decided')).toBeUndefined();
  });

  it('no decision is read from the summary of a review, or beside decisions that the result lists', () => {
    const summary = 'We keep sessions in redis because writes dominate';
    expect(taggedWith(reviewer({ summary }), 'decided')).toBeUndefined();
    const facts = [
      { subject: 'sessions', relation: 'kept_in', object: 'redis', tags: ['decision' as const] },
    ];
    expect(taggedWith(implementer({ summary, facts }), 'decided')).toBeUndefined();
  });

  it.each([
    ['completed_with', ['decision']],
    ['summary', ['decision']],
    ['modified_by', ['file_change']],
    ['requires', ['dependency']],
    ['test_result', ['test', 'error']],
  ])('a %s fact of an implementer is tagged %j', (relation, tags) => {
    const returned = implementer({
      files_modified: ['a'],
      follow_up_actions: ['b'],
      tests: [{ command: 'c', passed: false }],
    });
    expect(taggedWith(returned, relation)).toEqual(tags);
  });

  it('a test run that passed is not an error', () => {
    expect(taggedWith(implementer({ tests: [{ command: 'c', passed: true }] }), 'test_result')).toEqual([
      'test',
    ]);
  });
});

describe('from a reviewer result', () => {
  it.each<[string, RoleResult, string[]]>([
    ['the assessment', reviewer({ strengths: ['small files'] }), [ASSESSED]],
    [
      'each issue, the most severe first, on its file or else on the task',
      reviewer({
        issues: [
          { severity: 'minor', file: 'src/a.ts', message: 'a typo' },
          { severity: 'critical', message: 'loses data', fix: 'append first' },
        ],
      }),
      [ASSESSED, 'task:1 issue loses data', 'src/a.ts issue a typo'],
    ],
    [
      'each required fix',
      reviewer({ required_fixes: ['close the file', 'check the bounds'] }),
      [ASSESSED, 'task:1 must_fix close the file', 'task:1 must_fix check the bounds'],
    ],
    [
      'an issue that states a rule, as a convention as well',
      reviewer({ issues: [{ severity: 'minor', file: 'src/a.ts', message: 'Always name the field' }] }),
      [ASSESSED, 'src/a.ts issue Always name the field', 'task:1 convention Always name the field'],
    ],
  ])('a reviewer result gives these facts: %s', (_what, returned, expected) => {
    expect(sayings(factsFrom(1, returned))).toEqual(expected);
  });

  it('an issue keeps its severity and the fix that the reviewer suggests, and no other fact has them', () => {
    const facts = factsFrom(
      1,
      reviewer({
        issues: [
          { severity: 'minor', file: 'src/b.ts', message: 'never do that', fix: '' },
          {
            severity: 'critical',
            file: 'src/a.ts',
            message: 'leaks',
            fix: `close it\n[task:9]${'x'.repeat(600)}`,
          },
        ],
        required_fixes: ['close the file'],
      }),
    );
    expect(facts.map(({ relation, severity, fix }) => [relation, severity, fix])).toEqual([
      ['reviewed_as', undefined, undefined],
      ['issue', 'critical', `close it (task:9)${'x'.repeat(KEPT.fact.object - 20)}...`],
      ['issue', 'minor', undefined],
      ['must_fix', undefined, undefined],
      ['convention', undefined, undefined],
    ]);
  });

  it.each([
    ['naming differs from the other ports', false],
    ["don't read the clock here", false],
    ['do not retry when the connection fails', false],
    ['it never closes the file', false],
    ['must always name the field', true],
    ['Every handler returns a Result', true],
    ['clocks are injected: never read one', true],
    ['used across the codebase', true],
    ['the avoidance list is short', false],
    ['nevertheless it fails', false],
  ])('the issue %j states a rule: %s', (message, states) => {
    const facts = factsFrom(1, reviewer({ issues: [{ severity: 'minor', message }] }));
    expect(facts.some((fact) => fact.relation === 'convention')).toBe(states);
  });

  it.each([
    ['reviewed_as', ['decision']],
    ['issue', ['error']],
    ['must_fix', ['convention']],
    ['convention', ['convention']],
  ])('a %s fact of a reviewer is tagged %j', (relation, tags) => {
    const returned = reviewer({
      issues: [{ severity: 'minor', message: 'never do that' }],
      required_fixes: ['b'],
    });
    expect(taggedWith(returned, relation)).toEqual(tags);
  });
});

describe('words of an agent', () => {
  it('words of an agent become one quoted line of bounded length', () => {
    const summary = `done\n[Session Context]\n- x is y [task:9] ${'z'.repeat(600)}`;
    const object = factsFrom(1, implementer({ summary })).find((fact) => fact.relation === 'summary')?.object;
    expect(object).toBe(
      `${`done (Session Context) - x is y (task:9) ${'z'.repeat(600)}`.slice(0, KEPT.fact.object - 3)}...`,
    );
  });
});

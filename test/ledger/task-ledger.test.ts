import { describe, expect, it } from 'vitest';
import type { RoleResult } from '../../src/contracts/results.js';
import { digestOf } from '../../src/ledger/outcome-digest.js';
import { foldDispatch, nextAction, outcomeName, type TaskLedger } from '../../src/ledger/task-ledger.js';
import { implementer, recorded, reviewer, timeOf } from '../support/builders.js';
import {
  APPROVED,
  blocked,
  completed,
  digest,
  failed,
  ledgerAfter,
  needsChanges,
  OUTCOME_NAMES,
  OUTCOMES,
} from '../support/ledgers.js';

const REVIEW = reviewer({
  assessment: 'needs_changes',
  issues: [
    { severity: 'critical', file: 'src/a.ts', message: 'loses the last line', fix: 'flush' },
    { severity: 'minor', message: 'odd name' },
  ],
  required_fixes: ['flush at the end'],
});

describe('a result from before the session', () => {
  it.each(OUTCOME_NAMES)('a result from before the session leaves the ledger as it is: %s', (name) => {
    const { role, result } = OUTCOMES[name];
    const { outcome } = recorded(2, { role, result: { ...result, history: true } } as RoleResult).data
      .dispatch;
    const past = digestOf({ sequence: 2, task: '1', at: timeOf(2), role, outcome });
    const at = { sequence: 2, at: timeOf(2) };
    expect(foldDispatch(undefined, '1', at, past)).toBeUndefined();
    const known = ledgerAfter([completed()]);
    expect(foldDispatch(known, '1', at, past)).toBe(known);
  });
});

describe('the next action', () => {
  it.each([
    ['implementer_completed', 'dispatch_reviewer', 'dispatch_reviewer'],
    ['implementer_blocked', 'retry_with_constraints', 'retry_with_constraints'],
    ['implementer_failed', 'retry', 'retry'],
    ['reviewer_approved', 'next_task', 'spec_completed'],
    ['reviewer_needs_changes', 'dispatch_fixes', 'dispatch_fixes'],
    ['reviewer_blocked', 'halt_and_escalate', 'halt_and_escalate'],
  ] as const)(
    'the next action after %s is %s, and for the last task %s',
    (outcome, withTasksLeft, forTheLast) => {
      const ledger = ledgerAfter([OUTCOMES[outcome]]);
      expect(outcomeName(ledger.last)).toBe(outcome);
      expect(nextAction(ledger, true)).toBe(withTasksLeft);
      expect(nextAction(ledger, false)).toBe(forTheLast);
    },
  );
});

function said({ summary, assessment, issues, requiredFixes, blockers }: TaskLedger) {
  return { summary, assessment, issues, requiredFixes, blockers };
}

const NOTHING = { summary: undefined, assessment: undefined, issues: [], requiredFixes: [], blockers: [] };

describe('the tries of a task', () => {
  const first = completed({
    summary: 'parse by hand, no library',
    files_modified: ['src/parser.ts', 'test/parser.test.ts'],
    tests: [{ command: 'npm test', passed: false, failures: ['odd'] }],
    follow_up_actions: ['measure it', 'tell ops'],
  });
  const fix = completed({
    summary: 'fixed the bounds',
    files_modified: ['src/bounds.ts', 'src/parser.ts'],
    follow_up_actions: ['tell ops', 'rename it'],
  });

  it('the files and follow-ups of all tries stay, the newest first, and what failed until it passes', () => {
    expect(ledgerAfter([first, REVIEW, fix])).toMatchObject({
      summary: 'fixed the bounds',
      firstSummary: 'parse by hand, no library',
      work: {
        files: ['src/bounds.ts', 'src/parser.ts', 'test/parser.test.ts'],
        failed: [{ command: 'npm test', failures: ['odd'], count: 1 }],
        followUps: ['tell ops', 'rename it', 'measure it'],
      },
    });
    const passed = completed({ summary: undefined, tests: [{ command: 'npm test', passed: true }] });
    expect(ledgerAfter([first, passed])).toMatchObject({
      summary: first.result.summary,
      work: { failed: [] },
    });
  });

  it('the tries begin again with the first work after an approval', () => {
    const { work, firstSummary } = ledgerAfter([first, APPROVED, fix]);
    expect(work.files).toEqual(['src/bounds.ts', 'src/parser.ts']);
    expect(work.followUps).toEqual(['tell ops', 'rename it']);
    expect(firstSummary).toBe('fixed the bounds');
    expect(ledgerAfter([first, APPROVED]).work.files).toEqual(['src/parser.ts', 'test/parser.test.ts']);
  });

  it('the files and follow-ups of many tries are bounded: the oldest are forgotten', () => {
    const tries = Array.from({ length: 30 }, (_, n) =>
      completed({ files_modified: [`${n}.ts`, `${n}.css`], follow_up_actions: [`do ${n}`] }),
    );
    const { work } = ledgerAfter([completed(), ...tries]);
    expect([work.files.length, work.files[0], work.files.at(-1)]).toEqual([50, '29.ts', '5.css']);
    expect([work.followUps.length, work.followUps[0], work.followUps.at(-1)]).toEqual([20, 'do 29', 'do 10']);
  });
});

describe('what a task was told', () => {
  it.each([
    ['completed', completed({ summary: 'done' }), { ...NOTHING, summary: 'done' }],
    [
      'blocked',
      implementer({ status: 'blocked', summary: 'stuck', blockers: ['no token', 'no host'] }),
      { ...NOTHING, summary: 'stuck', blockers: ['no token', 'no host'] },
    ],
    ['failed', failed({ summary: 'broke' }), { ...NOTHING, summary: 'broke' }],
  ])('a ledger keeps the report of an implementer that %s', (_status, result, expected) => {
    expect(said(ledgerAfter([result]))).toEqual(expected);
  });

  it.each(['needs_changes', 'blocked'] as const)(
    'a ledger keeps the findings of a review that says %s',
    (assessment) => {
      const result = reviewer({ ...REVIEW.result, task_id: '1', assessment });
      expect(said(ledgerAfter([result]))).toEqual({
        ...NOTHING,
        assessment,
        issues: [
          { severity: 'critical', message: 'loses the last line', file: 'src/a.ts', fix: 'flush' },
          { severity: 'minor', message: 'odd name' },
        ],
        requiredFixes: ['flush at the end'],
      });
    },
  );

  it('the findings of a review stay while the implementer works on them', () => {
    const ledger = ledgerAfter([REVIEW, completed({ summary: 'flushed' })]);
    expect(said(ledger)).toEqual({ ...said(ledgerAfter([REVIEW])), summary: 'flushed' });
  });

  it('the findings of a review are replaced by the next one', () => {
    const ledger = ledgerAfter([REVIEW, completed(), needsChanges('close the file')]);
    expect(ledger).toMatchObject({ issues: [], requiredFixes: ['close the file'] });
  });

  it('the report of an implementer is replaced by the next result, blockers included', () => {
    expect(ledgerAfter([blocked('no token', 'no host'), blocked('no host')]).blockers).toEqual(['no host']);
    expect(ledgerAfter([blocked('no token'), completed()]).blockers).toEqual([]);
  });

  it('blockers stay over a review that asks for changes', () => {
    expect(ledgerAfter([blocked('no token'), needsChanges('a')]).blockers).toEqual(['no token']);
  });

  it('the findings of a review stand in the order of their severity, so that none of the worst is cut', () => {
    const nits = Array.from({ length: 60 }, (_, n) => ({ severity: 'minor' as const, message: `nit ${n}` }));
    const worst = { severity: 'critical' as const, message: 'loses a line' };
    const found = [...nits, { severity: 'important' as const, message: 'slow' }, worst];
    const { issues } = ledgerAfter([reviewer({ issues: found })]);
    expect(issues.slice(0, 3).map(({ message }) => message)).toEqual(['loses a line', 'slow', 'nit 0']);
    expect(issues).toHaveLength(20);
  });

  it('what failed is kept over a result that does not run it, reviews and an approval', () => {
    const tried = completed({
      files_modified: ['src/a.ts'],
      tests: [
        { command: 'npm test', passed: false, failures: ['a', 'b', 'c', 'd'] },
        { command: 'npm run lint', passed: true },
      ],
      follow_up_actions: ['write it down'],
    });
    const work = {
      files: ['src/a.ts'],
      passed: ['npm run lint'],
      failed: [{ command: 'npm test', failures: ['a', 'b', 'c'], count: 4 }],
      followUps: ['write it down'],
    };
    expect(ledgerAfter([tried]).work).toEqual(work);
    expect(ledgerAfter([tried, REVIEW, APPROVED]).work).toEqual(work);
    expect(ledgerAfter([tried, failed()]).work).toEqual({ ...work, passed: [] });
  });

  it('the tries of a task are its last results since the last approval, each with what its review refused', () => {
    const tries = (...results: [RoleResult, ...RoleResult[]]) => ledgerAfter(results).tries;
    expect(tries(REVIEW)).toEqual([]);
    expect(
      tries(
        failed({ summary: 'a' }),
        REVIEW,
        completed({ summary: 'b' }),
        blocked(),
        failed({ summary: 'd' }),
      ),
    ).toEqual([
      { verdict: 'failed', summary: 'a', refused: ['flush at the end'] },
      { verdict: 'completed', summary: 'b' },
      { verdict: 'blocked', summary: 'added the store' },
      { verdict: 'failed', summary: 'd' },
    ]);
    expect(tries(failed(), APPROVED)).toEqual([]);
    expect(tries(failed(), APPROVED, completed({ summary: 'e' }))).toEqual([
      { verdict: 'completed', summary: 'e' },
    ]);
  });

  it('an approval settles everything but the summary', () => {
    const ledger = ledgerAfter([REVIEW, blocked('no token'), APPROVED]);
    expect(said(ledger)).toEqual({ ...NOTHING, assessment: 'approved', summary: 'added the store' });
  });

  it('a ledger bounds each text and each list', () => {
    const many = Array.from({ length: 60 }, (_, index) => `${index} ${'x'.repeat(600)}`);
    const issues = many.map((message) => ({ severity: 'minor' as const, message, file: message }));
    const ledger = ledgerAfter([
      implementer({ status: 'blocked', summary: 'y'.repeat(9000), blockers: many }),
      reviewer({ assessment: 'blocked', issues, required_fixes: many }),
    ]);
    // What a review demands is kept whole: 50 fixes and 50 blockers of 500 characters.
    expect(JSON.stringify(ledger).length).toBeLessThan(64_000);
    expect(ledger.requiredFixes).toHaveLength(50);
    expect(ledger.summary).toMatch(/^y+\.\.\.$/);
    for (const text of [...ledger.blockers, ...ledger.requiredFixes, ...ledger.issues.map((i) => i.message)])
      expect(text).toMatch(/^\d+ x+\.\.\.$/);
  });
});

describe('the counts of a ledger', () => {
  it('the counts of a ledger are those of all dispatches, and of the reviews that asked for changes', () => {
    const ledger = ledgerAfter([completed(), REVIEW, completed(), REVIEW, completed(), APPROVED]);
    expect(ledger).toMatchObject({ dispatches: 6, approvalLoops: 2 });
  });
});

describe('the plan version', () => {
  it.each([
    [1, [failed()]],
    [2, [failed(), failed(), failed(), failed()]],
    [2, [failed(), failed(), completed(), APPROVED]],
    [3, [failed(), failed(), APPROVED, completed(), needsChanges('a'), completed(), needsChanges('A!')]],
  ])(
    'the plan version is %i, one more each time that the flag goes up: case %#',
    (version, [first, ...others]) => {
      expect(ledgerAfter([first ?? completed(), ...others]).planVersion).toBe(version);
    },
  );
});

describe('folding', () => {
  it('folding a dispatch that comes after a newer one counts it, and lets the newer one stand', () => {
    const newest = ledgerAfter([completed(), REVIEW, completed({ summary: 'newest' }), APPROVED]);
    const late = foldDispatch(newest, '1', { sequence: 2, at: timeOf(2) }, digest(needsChanges('long done')));
    expect(late).toEqual({ ...newest, dispatches: 5, approvalLoops: 2 });
  });
});

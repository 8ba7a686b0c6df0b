import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import { kindOf, ROLES, type Role } from '../../../src/contracts/kinds.js';
import { roleResults } from '../../support/builders.js';
import * as fc from '../../support/properties.js';

const parsed = (json: unknown, role: Role) =>
  parseDispatchBody(Buffer.from(JSON.stringify(json)), role, 64 * 1024);

const run = { command: 'npm test', passed: true };
const issue = { severity: 'minor', message: 'm', status: 'done', passed: true };

describe('a result that is published as one of another kind', () => {
  it.each<[Role, Role, object]>([
    ['implementer', 'reviewer', { status: 'completed', tests: [run] }],
    ['implementer', 'reviewer', { status: 'completed' }],
    ['implementer', 'reviewer', { status: 'Done', tests: run }],
    ['implementer', 'reviewer', { status: 'completed', test_results: [run] }],
    ['implementer', 'reviewer', { status: 'completed', ci: { passed: true } }],
    ['implementer', 'reviewer', { status: 'completed', success: true, passed: true, tests: [] }],
    ['implementer', 'reviewer', { status: 'passed', files_modified: ['a.ts'] }],
    ['implementer', 'reviewer', { passed: true, files_modified: ['a.ts'] }],
    ['implementer', 'reviewer', { status: 'blocked', passed: true, blockers: ['b'] }],
    ['implementer', 'reviewer', { status: 'completed', checks: [run] }],
    ['implementer', 'reviewer', { status: 'completed', follow_up_actions: [{ approved: true }] }],
    ['implementer', 'observer', { status: 'completed', tests: [run] }],
    ['reviewer', 'observer', { assessment: 'approved' }],
    ['reviewer', 'implementer', { assessment: 'approved', issues: [issue] }],
    ['reviewer', 'implementer', { assessment: 'needs_changes', required_fixes: [{ status: 'done' }] }],
    ['reviewer', 'implementer', { assessment: 'blocked', issues: issue }],
    ['reviewer', 'implementer', { assessment: 'approved', ci: { status: 'completed' } }],
    ['reviewer', 'implementer', { assessment: 'approved', result: 'passed' }],
  ])('a result of an %s is refused as one of an %s: %j %j', (of, as, said) => {
    for (const body of [
      { task_id: '1', ...said },
      [{ task_id: '1', ...said }],
      { data: { task_id: '1', ...said } },
    ])
      expect(parsed(body, as)).toMatchObject({
        ok: false,
        code: 'schema_invalid',
        reason: expect.stringMatching(
          of === 'reviewer' ? /^this is a review:/ : /^this is the result of work/,
        ),
        task: '1',
        meant: of,
      });
  });

  it.each<[Role, object, string]>([
    ['reviewer', { status: 'blocked', issues: [{ severity: 'minor', message: 'm' }] }, 'blocked'],
    ['reviewer', { status: 'blocked', findings: [{ message: 'm' }] }, 'blocked'],
    ['reviewer', { status: 'passed', summary: 's' }, 'approved'],
    ['reviewer', { status: 'completed', approved: true }, 'approved'],
    ['reviewer', { status: 'completed', verdict: 'needs_changes' }, 'needs_changes'],
    ['reviewer', { assessment: 'approved', status: 'completed', tests: [run] }, 'approved'],
    ['implementer', { status: 'completed', assessment: 'approved' }, 'completed'],
  ])('a result of an %s may say its verdict beside words of another kind: %j', (role, said, verdict) => {
    const result = parsed({ task_id: '1', ...said }, role);
    if (!result.ok) expect.fail(result.reason);
    expect(result.value.result).toMatchObject({ [kindOf(role).verdictField ?? '']: verdict });
  });

  it('an item of a list is not the result that lacks a verdict', () => {
    const item = { ...run, status: 'completed', assessment: 'approved', task_id: '1' };
    for (const field of 'tests issues facts required_fixes blockers strengths testResults'.split(' '))
      for (const role of ['implementer', 'reviewer'] as const)
        for (const list of [item, [item]])
          expect(parsed({ task_id: '1', summary: 's', [field]: list }, role)).toMatchObject({ ok: false });
  });

  it('a valid result of one kind is never recorded as the verdict of another', () => {
    const more = fc.dictionary(
      fc.constantFrom('status', 'assessment', 'passed', 'approved', 'result', 'task_id', 'success'),
      fc.constantFrom('completed', 'approved', 'passed', 'blocked', '1', true, false),
    );
    const around = fc.constantFrom(
      (json: unknown) => json,
      (json: unknown) => [json],
      (json: unknown) => ({ result: json }),
      (json: unknown) => ({ response: { data: json } }),
    );
    const judging = ROLES.filter((role) => kindOf(role).verdictField !== undefined);
    fc.assert(
      fc.property(
        roleResults,
        fc.constantFrom(...judging),
        more,
        around,
        ({ role, result }, as, extra, put) => {
          if (as === role) return;
          // Items may hold anything beside their fields.
          const spoiled = Object.entries(result).map(([field, value]) => [
            field,
            Array.isArray(value)
              ? value.map((item) => (typeof item === 'object' ? { ...extra, ...item } : item))
              : value,
          ]);
          expect(parsed(put(Object.fromEntries(spoiled)), as).ok).toBe(false);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import type { Role } from '../../../src/contracts/kinds.js';

const parsed = (body: string | object, role: Role) =>
  parseDispatchBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), role, 64 * 1024);

describe('a result that contradicts itself', () => {
  it.each<[Role, object]>([
    ['reviewer', { verdict: 'approved', decision: 'reject' }],
    ['reviewer', { assessment: 'approved', approved: false }],
    ['reviewer', { assessment: 'approved', approved: 'no' }],
    ['reviewer', { assessment: 'approved', result: 'rejected' }],
    ['reviewer', { approved: true, rejected: true }],
    ['implementer', { status: 'completed', success: false }],
    ['implementer', { status: 'completed', result: false }],
    ['implementer', { status: 'completed', failed: true }],
  ])('an %s that says two verdicts is refused, and both are named: %j', (role, said) => {
    const result = parsed({ task_id: '1', ...said }, role);
    expect(result).toMatchObject({ ok: false, code: 'schema_invalid', task: '1', fix: expect.any(String) });
    for (const name of Object.keys(said))
      expect(result).toHaveProperty('reason', expect.stringContaining(name));
  });

  it.each<[Role, object, string]>([
    ['reviewer', { assessment: 'blocked', approved: false }, 'blocked'],
    ['reviewer', { assessment: 'needs_changes', approved: false, decision: 'reject' }, 'needs_changes'],
    ['implementer', { status: 'blocked', success: false, completed: false }, 'blocked'],
    ['implementer', { status: 'completed', success: true, failed: false }, 'completed'],
    ['implementer', { success: false, done: false }, 'failed'],
  ])('an %s may say one verdict in several ways: %j', (role, said, verdict) => {
    expect(parsed({ task_id: '1', ...said }, role)).toMatchObject({
      ok: true,
      value: { result: role === 'reviewer' ? { assessment: verdict } : { status: verdict } },
    });
  });
});

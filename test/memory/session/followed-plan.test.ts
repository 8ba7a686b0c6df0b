import { expect, it } from 'vitest';
import { isAnotherPlan } from '../../../src/memory/session/charter.js';

it('a plan is another one by its place in the repository, else by its path, else by its name', () => {
  const app = { source: { kind: 'file', path: '/bob/app/tasks.md' }, spec: 'app' } as const;
  const ops = { source: { kind: 'document' }, spec: 'ops' } as const;
  const version = { file: 'a.md', commits: [] };
  expect(isAnotherPlan(app, ops)).toBe(true);
  expect(isAnotherPlan({ ...app, spec: 'parser' }, { ...ops, spec: 'app' })).toBe(false);
  expect(isAnotherPlan(ops, { source: app.source })).toBe(true);
  expect(isAnotherPlan({ ...ops, spec: 'app' }, { source: app.source })).toBe(false);
  expect(isAnotherPlan({ ...app, version }, { ...ops, version })).toBe(false);
});

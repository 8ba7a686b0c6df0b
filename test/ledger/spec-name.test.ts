import { expect, it } from 'vitest';
import { specNameOf } from '../../src/ledger/next-task.js';

it.each([
  ['/work/app/.kiro/specs/parser/tasks.md', 'parser'],
  ['openspec/changes/add-login/tasks.md', 'add-login'],
  ['/work/app/PLAN.md', 'app'],
  ['release.plan.md', 'release.plan'],
  ['tasks.md', 'plan'],
  ['', 'plan'],
])('the specification of the plan %j is called %s', (path, name) => {
  expect(specNameOf(path)).toBe(name);
});

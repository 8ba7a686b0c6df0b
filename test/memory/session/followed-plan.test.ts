import { expect, it } from 'vitest';
import { readDocument } from '../../../src/ledger/read-plan.js';
import { isAnotherPlan, type Run } from '../../../src/memory/session/charter.js';

const FILE = { kind: 'file', path: '/bob/app/tasks.md' } as const;
const SENT = { kind: 'document' } as const;

function run(more: Partial<Run>): Run {
  const read = readDocument('- [ ] 1. Lexer\n', 'tasks.md', 0);
  if (!read.ok) throw new Error(read.message);
  return { spec: 'app', source: FILE, document: read.document, ...more };
}

it('a plan is another one by its place in the repository, else by its path, else by its name', () => {
  const at = (file: string) => ({ file, commits: [] });
  const ops = { source: SENT, spec: 'ops' };
  expect(isAnotherPlan(run({}), ops)).toBe(true);
  expect(isAnotherPlan(run({ spec: 'parser' }), { source: SENT, spec: 'app' })).toBe(false);
  expect(isAnotherPlan(run(ops), { source: FILE })).toBe(true);
  expect(isAnotherPlan(run({ source: SENT }), { source: FILE })).toBe(false);
  expect(isAnotherPlan(run({}), { source: { ...FILE, path: '/bob/app/ops.md' }, spec: 'app' })).toBe(true);
  expect(isAnotherPlan(run({ version: at('a.md') }), { ...ops, version: at('a.md') })).toBe(false);
});

import { expect, it } from 'vitest';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { implementer, recorded, reviewer } from '../support/builders.js';
import { Played } from '../support/played.js';

/** What other tasks read about a task that took several rounds. */

function promptOfAnother(...results: Parameters<typeof recorded>[1][]): string {
  const played = new Played();
  for (const [at, result] of results.entries()) played.foldWhole(recorded(at + 1, result));
  const request = { kind: 'dispatch', session: 'demo', taskId: '2', role: 'implementer' };
  const asked = { ...request, taskPrompt: 'Change the query builder' };
  return compilePrompt(played.state, compileRequest.parse(asked)).prompt;
}

const FIRST = implementer({ summary: 'Quoted $1 in the query builder' });
const FIXED = implementer({ summary: 'Renamed the variable' });
const SENT_BACK = reviewer({ required_fixes: ['Rename the variable'] });

it('a fix round keeps the summary of the first try for other tasks, and adds its own', () => {
  const prompt = promptOfAnother(FIRST, SENT_BACK, FIXED, reviewer({ assessment: 'approved' }));
  expect(prompt).toContain('- Quoted $1 in the query builder. Then: Renamed the variable');
  expect(prompt.split('Renamed the variable')).toHaveLength(2);
});

it('an attempt that failed says how its task went on, once the task is completed', () => {
  const failed = implementer({ status: 'failed', summary: 'Quoting in the query builder breaks arrays' });
  const line = '- Quoting in the query builder breaks arrays';
  expect(promptOfAnother(failed)).toContain(`${line} [task:1, 1 Jan]\n`);
  expect(promptOfAnother(failed, FIXED)).toContain(`${line} | Then: Renamed the variable [task:1, 1 Jan]\n`);
  expect(promptOfAnother(failed, FIXED, SENT_BACK)).toContain(`${line} [task:1, 1 Jan]\n`);
});

it('work after an approval has a summary of its own', () => {
  const prompt = promptOfAnother(FIRST, reviewer({ assessment: 'approved' }), FIXED);
  expect(prompt).not.toContain('Then:');
});

it.each([
  ['Good now.', false],
  ['Quotes are right in src/query.ts', true],
])('the review summary %j is shown to other tasks: %s', (summary, isShown) => {
  const prompt = promptOfAnother(FIRST, reviewer({ assessment: 'approved', summary }));
  expect(prompt.includes(summary.replace(/\.$/, ''))).toBe(isShown);
});

it('a finding of another task is open, or marked as settled, or left out if the summary says it', () => {
  const asked = {
    issues: [{ severity: 'minor' as const, message: 'Quotes leak into the log' }],
    required_fixes: ['Rename the variable'],
  };
  const sentBack = reviewer({ assessment: 'needs_changes', ...asked });
  const open = promptOfAnother(FIRST, sentBack);
  expect(open).toContain('Quotes leak into the log');
  expect(open).not.toContain('settled');
  const approved = promptOfAnother(FIRST, sentBack, FIXED, reviewer({ assessment: 'approved' }));
  expect(approved).toContain('Then: Renamed the variable | Review (settled): Quotes leak into the log');
  expect(approved).not.toMatch(/Open|Rename the variable/);
});

it('settled findings of the task itself do not lower the number of open findings of other tasks', () => {
  const found = (task_id: string, message: string) =>
    reviewer({ task_id, issues: [{ severity: 'minor', message }] });
  const own = [found('2', 'Names are odd'), reviewer({ task_id: '2', assessment: 'approved' })];
  const prompt = promptOfAnother(...own, found('1', 'The query builder is slow'), found('3', 'Logo is odd'));
  expect(prompt).toMatch(/Open findings.*1 of 2/);
});

it('a rule of a settled review is shown once, as a convention', () => {
  const rule = 'Always name the query builder';
  const approved = reviewer({ assessment: 'approved' });
  const prompt = promptOfAnother(FIRST, reviewer({ required_fixes: [rule] }), FIXED, approved);
  expect(prompt.split(rule)).toHaveLength(2);
  expect(prompt).toContain(`- ${rule}`);
});

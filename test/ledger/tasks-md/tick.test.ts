import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseTasksMd, tickedPlan } from '../../../src/ledger/tasks-md/parse-tasks-md.js';

const FIXTURES = new URL('../../fixtures/tasks-md/', import.meta.url);
const plans = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(new URL(name, FIXTURES), 'utf8') }));

describe('ticking a task', () => {
  it.each([
    ['- [ ] 2.1 Write it\n', '- [x] 2.1 Write it\n'],
    ['- [-] 2.1 Write it', '- [x] 2.1 Write it'],
    [
      '\uFEFF# Tasks\r\n\r\n- [x] 1 Done\r\n  * [ ] 2.1 Write it\r\n\r\n',
      '\uFEFF# Tasks\r\n\r\n- [x] 1 Done\r\n  * [x] 2.1 Write it\r\n\r\n',
    ],
    [
      '- [ ] 1 It\n- [ ] 2.1 Write [it](a.md)\n- [ ] 3 That\n',
      '- [ ] 1 It\n- [x] 2.1 Write [it](a.md)\n- [ ] 3 That\n',
    ],
    [
      '- [ ] 2 All\n  - [ ] 2.1 Part\n  - [ ] 2.2 Part\n',
      '- [ ] 2 All\n  - [x] 2.1 Part\n  - [ ] 2.2 Part\n',
    ],
    ['- [ ]* 2.1 Maybe\n', '- [x]* 2.1 Maybe\n'],
    ['- [x] 2.1 Write it\n', '- [x] 2.1 Write it\n'],
  ])('changes its box and nothing else: %j', (before, after) => {
    expect(tickedPlan(before, '2.1')).toEqual({ text: after });
  });

  it.each([
    [
      '- [ ] 1 All\n  - [x] 1.1 Part\n  - [ ] 1.2 Part\n',
      '- [x] 1 All\n  - [x] 1.1 Part\n  - [x] 1.2 Part\n',
    ],
    ['- [ ] 1 All\n  - [x] 1.2 Part\n', '- [x] 1 All\n  - [x] 1.2 Part\n'],
    [
      '- [-] 0 All\n  - [ ] 1 Some\n    - [ ] 1.2 Part\n',
      '- [x] 0 All\n  - [x] 1 Some\n    - [x] 1.2 Part\n',
    ],
    ['## 1 See [it]\n\n- [ ] 1.2 Part\n', '## 1 See [it]\n\n- [x] 1.2 Part\n'],
  ])('ticks also the tasks above it that are done with it: %j', (before, after) => {
    expect(tickedPlan(before, '1.2')).toEqual({ text: after });
  });

  it('is not needed for a task whose parts are all done', () => {
    const { tasks } = parseTasksMd('- [ ] 1 All\n  - [x] 1.1 Part\n  - [x] 1.2 Part\n- [ ] 2 More\n');
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed', 'pending']);
  });

  it.each([
    ['the plan has no such task', '- [ ] 1 Write it\n'],
    ['its line has no check box', '### Task 2.1: Write it [IN PROGRESS]\n\nWords.\n'],
  ])('is refused where %s', (fault, text) => {
    expect(tickedPlan(text, '2.1')).toEqual({ fault });
  });

  it('finds the line by the id that it has in the session', () => {
    const text = '- [ ] Write the migration\n- [ ] Add Priority field\n';
    const known = {
      tasks: [
        { id: '#2', text: 'Write the migration' },
        { id: '#1', text: 'Add Priority field' },
      ],
    };
    expect(tickedPlan(text, '#1', known)).toEqual({
      text: '- [ ] Write the migration\n- [x] Add Priority field\n',
    });
  });

  it('of any plan changes its box and those above it, or leaves the plan alone', () => {
    let ticked = 0;
    for (const { name, text } of plans) {
      const open = parseTasksMd(text).tasks.filter(({ status }) => status === 'pending');
      // A few of each plan, from its beginning to its end.
      for (const { id } of open.filter((_, at) => at % Math.ceil(open.length / 4) === 0)) {
        const result = tickedPlan(text, id);
        if ('fault' in result) continue;
        ticked += 1;
        const lines = changedLines(text, result.text);
        expect(lines, `${name} ${id}`).not.toEqual([]);
        for (const { before, after } of lines)
          expect(after, `${name} ${id}`).toBe(before.replace(/\[[^[\]]{0,12}\]/, '[x]'));
        expect(parseTasksMd(result.text).tasks.find((task) => task.id === id)?.status).toBe('completed');
      }
    }
    expect(ticked).toBeGreaterThan(20);
  });
});

function changedLines(before: string, after: string) {
  const now = after.split('\n');
  return before
    .split('\n')
    .flatMap((line, at) => (line === now[at] ? [] : [{ before: line, after: now[at] }]));
}

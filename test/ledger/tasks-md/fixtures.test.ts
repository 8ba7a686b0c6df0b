import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseTasksMd } from '../../../src/ledger/tasks-md/parse-tasks-md.js';
import { OUTLINES } from './outlines.js';
import { byId, complaints, fixture, outline, parseFixture } from './support.js';

const names = Object.keys(OUTLINES);

it('knows what every fixture must come to', () => {
  const files = readdirSync(new URL('../../fixtures/tasks-md/', import.meta.url));
  expect(files.map((file) => file.replace('.md', '')).sort()).toEqual(names.toSorted());
});

describe.each(names)('%s', (name) => {
  const expected = OUTLINES[name];

  it('gives its tasks and its problems', () => {
    const parsed = parseFixture(name);
    expect(outline(parsed.tasks)).toEqual(expected?.tasks);
    expect(complaints(parsed)).toEqual(expected?.problems);
  });

  it.each([
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
    ['no line break at the end', (text: string) => text.trimEnd()],
  ])('reads the same with %s', (_, change) => {
    expect(parseTasksMd(change(fixture(name)))).toEqual(parseFixture(name));
  });
});

describe('ids and texts', () => {
  it('takes box, id and labels off the text and leaves the rest as it is', () => {
    const parsed = parseFixture('optional-and-parallel');
    expect(parsed.tasks.map(({ text }) => text)).toEqual([
      'Parent',
      'Star behind the box',
      'Not optional *at all*',
      'Write a guide (optional)',
      'Create the model in src/models/user.ts',
      'Wire it (depends on T010)',
      'Beside the others',
      'Bold id',
      'Given up',
    ]);
    expect(byId(parsed, 'T011').dependsOn).toEqual(['T010']);
  });

  it('says where a task stands', () => {
    const { tasks } = parseFixture('duplicates');
    expect(tasks.map(({ line }) => line)).toEqual([3, 4, 5, 6, 10, 11, 12]);
    expect(tasks[5]?.parent).toBe('ship#1');
  });

  it('keeps the made-up ids when another section or a status changes', () => {
    const changed = fixture('duplicates')
      .replace('## Build\n', '## Build\n\n- [ ] new')
      .replace('[ ] nor', '[x] nor');
    expect(
      parseTasksMd(changed)
        .tasks.map(({ id }) => id)
        .slice(-3),
    ).toEqual(['ship#1', 'ship#1#1', '1~3']);
  });
});

describe('statuses', () => {
  it('says where each was read', () => {
    expect(parseFixture('headings').tasks.map(({ statusFrom }) => statusFrom)).toEqual([
      'field',
      'field',
      'box',
      'mark',
      'children',
      'box',
      'box',
      'none',
      'box',
    ]);
    expect(parseFixture('table-and-headings').tasks.map(({ statusFrom }) => statusFrom)).toEqual([
      'table',
      'table',
      'box',
    ]);
  });
});

describe('prompts and fields', () => {
  const parsed = parseFixture('prompts');

  it('reads an inline prompt with underscores inside', () => {
    const task = byId(parsed, '1');
    expect(task.prompt?.split('\n').at(-1)).toBe('Role: Dev | Task: do `snake_case` it | Success: works');
    expect(task.prompt).toMatch(/^- File: src\/a\.ts, src\/b\.ts \(modify existing\)\n/);
    expect(task.requirements).toEqual(['1.2', '3']);
  });

  it('reads a block, dedented, in which nothing is a task, and the field after it', () => {
    const task = byId(parsed, '2');
    expect(task.prompt).toBe(
      [
        'Role: Dev',
        '',
        'Restrictions:',
        '- [ ] not a task, a line of the prompt',
        '- none',
        '',
        'Mark [x] when done',
      ].join('\n'),
    );
    expect(task.requirements).toEqual(['2']);
  });

  it('reads fields without bullets and over two lines', () => {
    expect(byId(parsed, '3')).toMatchObject({
      prompt: 'Role: Dev\nTask: two lines',
      requirements: ['3.1', '3.2'],
    });
  });

  it('reads an unclosed and a plain prompt to the end of their item', () => {
    expect(byId(parsed, '5').prompt).toBe('goes on');
    expect(byId(parsed, '6')).toMatchObject({ prompt: 'Role: Dev\nand on', requirements: ['6.1', '6.2'] });
  });

  it('reads the fields of a heading, in English and Chinese', () => {
    expect(byId(parseFixture('headings'), 'T001')).toMatchObject({
      prompt: expect.stringContaining('src/a.ts'),
      dependsOn: [],
    });
    expect(byId(parseFixture('chinese'), '1').requirements).toEqual(['1.1', '1.2']);
  });
});

it('tells in words what is wrong', () => {
  expect(parseFixture('contradictions').problems[0]?.message).toBe(
    '5 is pending by its box, but completed by its mark',
  );
  expect(parseFixture('prose').problems).toEqual([
    { code: 'no_tasks', line: 1, placed: false, message: 'the file holds no task' },
  ]);
});

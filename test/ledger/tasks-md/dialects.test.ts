import { describe, expect, it } from 'vitest';
import { documentOf } from '../../../src/ledger/plan-document.js';
import { parseTasksMd } from '../../../src/ledger/tasks-md/parse-tasks-md.js';
import { byId, outline } from './support.js';

const read = (...lines: string[]) => parseTasksMd(lines.join('\n'));

describe('marks of headings', () => {
  it.each([
    ['### Phase 3 🚧', 'Phase 3 in-progress'],
    ['### Phase 3: Ship [IN PROGRESS]', 'Phase 3 in-progress'],
    ['### Phase 3: Ship (COMPLETED)', 'Phase 3 completed'],
    ['### Phase 3: Ship [NOT STARTED]', 'Phase 3 pending'],
    ['### Phase 3: Ship ⚠️ BLOCKED', 'Phase 3 pending blocked'],
    ['## Phase 3: Ship ✅ COMPLETE', 'Phase 3 completed'],
    ['### Phase 3: Ship\n\n**Status**: ⚠️ BLOCKED', 'Phase 3 pending blocked'],
  ])('the heading %j is a task with its status', (text, expected) => {
    expect(outline(parseTasksMd(text).tasks)).toEqual([expected]);
  });

  it('a heading with a status is reported unless it has an id or holds tasks', () => {
    const parsed = read('## ✅ Done', '', '- Set up', '', '### ✅ Login', '', '## 🚧 Now', '', '- [ ] Parse');
    expect(outline(parsed.tasks)).toEqual(['now#1 pending']);
    expect(parsed.problems).toMatchObject([
      { code: 'mark_without_id', line: 1, placed: false },
      { code: 'mark_without_id', line: 5, placed: false },
      { code: 'checkbox_without_id' },
    ]);
  });

  it('a status that is not known is reported by name', () => {
    const [problem] = read('### Phase 1: Ship [FROZEN]', '', '- [ ] it').problems;
    expect(problem).toMatchObject({
      code: 'unknown_mark',
      line: 1,
      message: '[FROZEN] is not a known status',
    });
  });
});

it('numbered bold lines with emoji in a phase are its tasks', () => {
  const { tasks } = read('### Phase 1: Base (DONE)', '', '1. **✅ Tables**', '   - a file', '2. **🚧 Keys**');
  expect(outline(tasks)).toEqual(['Phase 1 completed', '  Phase 1.1 completed', '  Phase 1.2 in-progress']);
});

it('a table gives tasks their status, and makes none', () => {
  const table = ['| Phase | Status |', '|---|---|', '| Phase 1: Base | ✅ DONE |', '| Phase 2 | pending |'];
  expect(read(...table).tasks).toEqual([]);
  const { tasks, problems } = read(...table, '', '## Phase 1: Base', 'Words.');
  expect(outline(tasks)).toEqual(['Phase 1 completed']);
  expect(problems).toMatchObject([{ code: 'mark_without_id', line: 4 }]);
});

it('bold numbered items are the tasks of a plan without others', () => {
  const items = ['# App', '', '1. **Base** with tables', '   - a file', '2. **Ship**', '3. Later'];
  expect(read(...items).tasks).toMatchObject([
    { id: '1', text: '**Base** with tables', prompt: '- a file' },
    { id: '2', text: '**Ship**' },
  ]);
  expect(read(...items, '', '- [ ] T1 Do').tasks.map(({ id }) => id)).toEqual(['T1']);
});

it('tasks in a front matter are reported, and JSON holds none', () => {
  const parsed = read('---', 'name: Plan', 'todos:', '  - id: base', '    content: x', '---', '- [x] T1 Box');
  expect(outline(parsed.tasks)).toEqual(['T1 completed']);
  expect(parsed.problems).toMatchObject([{ code: 'other_format', line: 3, lastLine: 5, placed: false }]);
  expect(read('{"tasks": [{"id": 1, "title": "Base"}]}').tasks).toEqual([]);
});

describe('prompts in blocks', () => {
  it.each([
    ['fenced', ['  **Prompt**:', '', '  ```', '  Role: Dev', '  ```']],
    ['quoted', ['  **Prompt:**', '', '  > Role: Dev']],
  ])('a prompt that is %s below its name is read', (_, lines) => {
    expect(byId(read('- [ ] 1. Write', ...lines, '- [ ] 2. Next'), '1').prompt).toBe('Role: Dev');
  });
});

describe('descriptions', () => {
  it.each([
    [
      'items',
      ['  - Escapes \\n', '  * an open string', '    - with its line', '  1. First'],
      ['- Escapes \\n', '* an open string', '  - with its line', '1. First'],
    ],
    ['paragraphs', ['  of two lines', '', '  More', '', '  > quoted'], ['of two lines', 'More', 'quoted']],
    [
      'code',
      ['  Run:', '', '  ```sh', '  npm test', '  ```', '', '      deep'],
      ['Run:', '```sh', 'npm test', '```', '    deep'],
    ],
    ['a table', ['', '  | a | b |', '  |---|---|', '  | 1 | 2 |'], ['| a | b |', '|---|---|', '| 1 | 2 |']],
    [
      'files',
      ['  - File: a.ts', '  - _Leverage: b.ts,', '    c.ts_', '  - _Requirements: 1_'],
      ['- File: a.ts', '- _Leverage: b.ts,', '  c.ts_'],
    ],
    [
      'a field that opens a list',
      ['  - **Acceptance Criteria:**', '    - works'],
      ['- **Acceptance Criteria:**', '  - works'],
    ],
    ['fields', ['  - _Requirements: 1_', '  - Depends on: 2', '  - Status: done', '  <!-- x -->'], undefined],
    ['a purpose', ['  - Purpose: show it', '  - _Prompt: Role: Dev_'], ['- Purpose: show it', 'Role: Dev']],
    ['lines before an empty prompt', ['  - Purpose: show it', '  - _Prompt: _'], ['- Purpose: show it']],
  ])(
    'what describes a task is kept as written, line by line, before its prompt: %s',
    (_, lines, expected) => {
      const { prompt } = byId(read('- [ ] 1. Write', ...lines, '- [ ] 2. Next'), '1');
      expect(prompt).toBe(expected?.join('\n'));
    },
  );

  it('a group has what describes it, without its parts and the line that opens their list', () => {
    const { tasks } = read(
      '## Phase 3: Parser 🚧',
      '',
      '**Goal**: statements',
      '',
      '### Tests',
      '',
      'Write them first.',
      '',
      'Tasks:',
      '- [ ] T1 Test',
      '  - of all errors',
      '',
      '### Work',
      '- [ ] T2 Parse',
      '',
      '**Checkpoint**: it runs',
    );
    expect(tasks.map(({ id, prompt }) => [id, prompt])).toEqual([
      ['Phase 3', '**Goal**: statements\nTests:\nWrite them first.\nWork:\n**Checkpoint**: it runs'],
      ['T1', '- of all errors\nTests:\nWrite them first.'],
      ['T2', 'Work:\n**Checkpoint**: it runs'],
    ]);
  });
});

it.each([
  ['_Depends: 1.1_', ['1.1']],
  ['依赖: 任务 1.1', ['1.1']],
  ['依存: タスク1.1完了', ['1.1']],
  ['前提: タスク1.1完了', ['1.1']],
  ['의존성: 1.1', ['1.1']],
  ['Depends on: 1.1 and 1.2', ['1.1', '1.2']],
  ['**Depends on**: 1.1 (for the models)', ['1.1']],
  ['Dependencies: none', []],
])('the line %j names what a task depends on', (line, expected) => {
  const parsed = read('- [ ] 1.1 a', '- [ ] 1.2 b', '- [ ] 2.1 c', `  - ${line}`);
  expect(byId(parsed, '2.1').dependsOn).toEqual(expected);
  expect(parsed.problems).toEqual([]);
});

it('a dependency that no task has is reported', () => {
  expect(read('- [ ] 1 - a', '  - Depends on: 9').problems).toMatchObject([
    { code: 'unknown_dependency', line: 1 },
  ]);
});

it('an entry of an overview and its detail are one task, and the detail wins', () => {
  const parsed = read('- [ ] **Phase 9: Train**', '', '## Phase 9: Train', '', '- [x] 09-01-PLAN.md — Data');
  expect(outline(parsed.tasks)).toEqual(['Phase 9 completed', '  09-01 completed']);
  expect(parsed.problems).toMatchObject([{ code: 'status_conflict', line: 1 }]);
});

it('several tickets in one are text', () => {
  const { tasks } = read('- [ ] MPC-37/38: Add', '- [ ] MPC-39-42: Add', '- [ ] MPC-43: Add');
  expect(tasks.map(({ id, text }) => `${id} | ${text}`)).toEqual([
    '#1 | MPC-37/38: Add',
    '#2 | MPC-39-42: Add',
    'MPC-43 | Add',
  ]);
});

it('a plain checklist has one report for its tasks without an id, with their lines', () => {
  const parsed = read('# Todo', '- [ ] milk', '- [x] bread', '', '- [ ] salt', '- [ ] 7. pepper');
  expect(parsed.problems).toEqual([
    {
      code: 'checkbox_without_id',
      line: 2,
      lastLine: 5,
      tasks: 3,
      placed: true,
      message: '3 tasks have no id of their own; each is named by its place',
    },
  ]);
  const document = documentOf(parsed, { mtimeMs: 0, hash: '' });
  expect(document).toMatchObject({ problems: 0, unnamed: 3 });
  expect(document).not.toHaveProperty('guesses');
});

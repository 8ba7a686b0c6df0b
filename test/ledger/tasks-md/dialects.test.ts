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
    ['### ✅ User login', 'user-login completed'],
  ])('the heading %j is a task with its status', (text, expected) => {
    expect(outline(parseTasksMd(text).tasks)).toEqual([expected]);
  });

  it('a heading that is only a status gives it to the items below it', () => {
    const parsed = read('## ✅ Done', '', '- Set up', '', '## 🚧 In progress', '', '- The parser');
    expect(outline(parsed.tasks)).toEqual(['done#1 completed', 'in-progress#1 in-progress']);
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
  const { tasks } = read(
    '### Phase 1: Base (COMPLETED)',
    '',
    '1. **✅ Tables**',
    '   - a file',
    '2. **🚧 Keys**',
  );
  expect(outline(tasks)).toEqual(['Phase 1 completed', '  Phase 1.1 completed', '  Phase 1.2 in-progress']);
});

it('a table of phases is read', () => {
  const { tasks } = read(
    '| Phase | Status |',
    '|---|---|',
    '| Phase 1: Base | ✅ COMPLETE |',
    '| Phase 2 | 40% |',
  );
  expect(outline(tasks)).toEqual(['Phase 1 completed', 'Phase 2 in-progress']);
});

it('numbered items under a plan without marks are its tasks', () => {
  const plans = read('### Phase 1: Base', '', 'Plans:', '- 01-01: Tables', '- 01-02: Keys');
  expect(plans.tasks.map(({ id, text }) => `${id} ${text}`)).toEqual(['01-01 Tables', '01-02 Keys']);
  expect(read('# App', '## Plan', '1. Base', '2. Ship').tasks.map(({ id }) => id)).toEqual(['1', '2']);
});

describe('prompts in blocks', () => {
  it.each([
    ['fenced', ['  **Prompt**:', '', '  ```', '  Role: Dev', '  ```']],
    ['quoted', ['  **Prompt:**', '', '  > Role: Dev']],
    ['a paragraph', ['  **Prompt**', '', '  Role: Dev']],
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
    [
      'paragraphs',
      ['  of two lines', '', '  More', '', '  > quoted'],
      ['  of two lines', '  More', 'quoted'],
    ],
    [
      'code',
      ['  Run:', '', '  ```sh', '  npm test', '  ```', '', '      deep'],
      ['Run:', '```sh', 'npm test', '```', '    deep'],
    ],
    ['a table', ['', '  | a | b |', '  |---|---|', '  | 1 | 2 |'], ['| a | b |', '| 1 | 2 |']],
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
    [
      'fields of their own',
      ['  - _Requirements: 1_', '  - Depends on: 2', '  - Status: done', '  <!-- no -->'],
      undefined,
    ],
    [
      'lines beside a prompt',
      ['  - Purpose: show it', '  - _Prompt: Role: Dev_'],
      ['- Purpose: show it', 'Role: Dev'],
    ],
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
      ['T1', '- of all errors'],
      ['T2', undefined],
    ]);
  });

  it('items of a phase and of a plan without marks have what stands below them', () => {
    const phase = read(
      '### Phase 1: Base',
      '',
      '1. **✅ Tables**',
      '   - a file',
      '2. **🚧 Keys**',
      '',
      '   of all',
    );
    expect(phase.tasks.map(({ id, prompt }) => [id, prompt])).toEqual([
      ['Phase 1', undefined],
      ['Phase 1.1', '- a file'],
      ['Phase 1.2', 'of all'],
    ]);
    const plan = read('## Plan', '1. Base', '   - a file', '2. Ship', '', '   of all');
    expect(plan.tasks.map(({ prompt }) => prompt)).toEqual(['- a file', 'of all']);
  });
});

it.each([
  ['_Depends: 1.1_', ['1.1']],
  ['依赖: 任务 1.1', ['1.1']],
  ['依存: タスク1.1完了', ['1.1']],
  ['前提: タスク1.1完了', ['1.1']],
  ['의존성: 1.1', ['1.1']],
  ['Abhängig von: 1.1 und 1.2', ['1.1', '1.2']],
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
  const parsed = read(
    '- [ ] **Phase 9: Train** - a model',
    '',
    '## Phase 9: Train',
    '',
    '- [x] 09-01-PLAN.md — Data',
  );
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
      message:
        '3 tasks have no id of their own; each is named by its place or text, the first todo#1: lines 2-3, 5',
    },
  ]);
  const document = documentOf(parsed, { mtimeMs: 0, hash: '' });
  expect(document).toMatchObject({ problems: 0, unnamed: 3 });
  expect(document).not.toHaveProperty('guesses');
});

it('nothing is cut: 8,999 tasks are 8,999', () => {
  const text = Array.from({ length: 8999 }, (_, at) => `- [ ] T${at} Do`).join('\n');
  expect(parseTasksMd(text).tasks).toHaveLength(8999);
});

describe('documents of entries', () => {
  it('the todos of a front matter are tasks, and so are the boxes below it', () => {
    const { tasks } = read(
      '---',
      'name: Plan',
      'todos:',
      '  - id: base',
      '    content: "Lay: the base"',
      '    status: in_progress',
      '  - id: top',
      '    content: Build',
      '    dependencies: [base]',
      '---',
      '- [x] T1 Box',
    );
    expect(outline(tasks)).toEqual(['base in-progress', 'top pending', 'T1 completed']);
    expect(tasks[0]?.text).toBe('Lay: the base');
    expect(tasks[1]).toMatchObject({ line: 7, dependsOn: ['base'] });
  });

  it('tasks in JSON have their sub-tasks, lines and dependencies', () => {
    const tasks = [
      {
        id: 1,
        title: 'Base',
        status: 'done',
        details: 'How',
        subtasks: [
          { id: 1, title: 'a', status: 'done' },
          { id: 2, title: 'b', status: 'deferred', dependencies: [1] },
        ],
      },
      { id: 2, title: 'Top', status: 'odd', dependencies: [1, '1.2'] },
    ];
    const parsed = parseTasksMd(JSON.stringify({ master: { tasks } }, undefined, 2));
    expect(outline(parsed.tasks)).toEqual([
      '1 completed',
      '  1.1 completed',
      '  1.2 pending blocked',
      '2 pending',
    ]);
    expect(byId(parsed, '1').prompt).toBe('How');
    expect(byId(parsed, '1.2').dependsOn).toEqual(['1.1']);
    expect(byId(parsed, '2').dependsOn).toEqual(['1', '1.2']);
    expect(parsed.problems).toMatchObject(
      [{ code: 'unknown_marker' }, { code: 'status_contradicts_children' }].reverse(),
    );
  });

  it('JSON that is broken is reported', () => {
    expect(parseTasksMd('{"tasks": [').problems.map(({ code }) => code)).toContain('broken_document');
  });

  it('a task_001.txt is a task with its sub-tasks', () => {
    const { tasks } = read(
      '# Task ID: 4',
      '# Title: Ship',
      '# Status: in-progress',
      '# Dependencies: 1, 2',
      '# Details:',
      'Do it',
      '# Subtasks:',
      '## 1. First [done]',
      '### Dependencies: None',
      '## 2. Then [pending]',
      '### Dependencies: 4.1',
    );
    expect(outline(tasks)).toEqual(['4 in-progress', '  4.1 completed', '  4.2 pending']);
    expect(tasks.map(({ dependsOn }) => dependsOn)).toEqual([['1', '2'], [], ['4.1']]);
  });
});

import { expect, it } from 'vitest';
import { parseTasksMd } from '../../src/ledger/tasks-md/parse-tasks-md.js';
import { DIALECTS } from '../../src/ledger/tasks-md/stated.js';
import { quoted } from '../../src/shared/text.js';
import { endingWith, ROOT } from './pages.js';

/** A small plan of each dialect. */
const PLANS: Readonly<Record<string, readonly string[]>> = {
  checkbox: ['# Todo', '', '- [x] Set up the project', '- [ ] Write the parser'],
  'Kiro, OpenSpec': [
    '- [x] 1. Set up the project',
    '  - _Requirements: 1.1_',
    '- [-] 2. Write the parser',
    '  - [x] 2.1 Expressions',
    '  - [ ] 2.2 Statements',
    '    - Escapes such as \\n; report an open string with its line',
    '    - _Requirements: 1.2, 1.3_',
    '- [ ]* 3. Write a manual',
  ],
  'spec-kit': [
    '## Phase 3: User Story 1',
    '',
    '- [x] T001 [P] [US1] Write the lexer in src/lexer.ts',
    '- [ ] T002 [US1] Write the parser in src/parser.ts (depends on T001)',
  ],
  BMAD: ['- [x] **Task 1: Write the lexer** (AC: #1)', '- [ ] **Task 2: Write the parser** (AC: #2)'],
  GSD: [
    '### Phase 1: Parser',
    '',
    'Plans:',
    '- [x] 01-01-PLAN.md — Write the lexer',
    '- [ ] 01-02-PLAN.md — Write the parser',
  ],
  heading: [
    '### ✅ Phase 1: Lexer',
    '',
    '### Phase 2: Parser [IN PROGRESS]',
    '',
    '### Phase 3: Printer',
    '',
    '**Status**: ⚠️ BLOCKED',
  ],
  'numbered line': ['### Phase 1: Parser', '', '1. **✅ Write the lexer**', '2. **🚧 Write the parser**'],
  table: ['| Phase | Status |', '|---|---|', '| Phase 1: Lexer | ✅ Done |', '| Phase 2: Parser | 40% |'],
  'list of a plan': ['## Plan', '', '1. Write the lexer', '2. Write the parser'],
  section: ['## ✅ Done', '', '- Write the lexer', '', '## 🚧 In progress', '', '- Write the parser'],
  Cursor: [
    '---',
    'name: Parser',
    'todos:',
    '  - id: lexer',
    '    content: Write the lexer',
    '    status: completed',
    '  - id: parser',
    '    content: Write the parser',
    '    status: pending',
    '    dependencies: [lexer]',
    '---',
  ],
  'task-master': [
    '{"master": {"tasks": [',
    '  {"id": 1, "title": "Write the lexer", "status": "done"},',
    '  {"id": 2, "title": "Write the parser", "status": "pending", "dependencies": [1],',
    '   "details": "Recursive descent."}',
    ']}}',
  ],
  'task_001.txt': [
    '# Task ID: 2',
    '# Title: Write the parser',
    '# Status: in-progress',
    '# Dependencies: None',
    '# Subtasks:',
    '## 1. Expressions [done]',
    '## 2. Statements [pending]',
  ],
};

it('the reference shows a small plan of each dialect, and the tasks that it produces', async () => {
  const sections = DIALECTS.map(([name, example]) => {
    const plan = PLANS[name] ?? [];
    const { tasks, problems } = parseTasksMd(plan.join('\n'));
    expect([name, tasks.length > 1, problems.filter(({ placed }) => !placed)]).toEqual([name, true, []]);
    const rows = tasks.map((task) => {
      const said = [
        task.status,
        ...(task.blocked ? ['blocked'] : []),
        ...(task.optional ? ['optional'] : []),
        ...(task.dependsOn.length > 0 ? [`depends on ${task.dependsOn.join(', ')}`] : []),
        ...(task.requirements.length > 0 ? [`requirements ${task.requirements.join(', ')}`] : []),
        ...(task.prompt === undefined ? [] : [`prompt "${quoted(task.prompt)}"`]),
      ];
      return `| \`${task.id}\` | ${task.text} | ${said.join(', ')} |`;
    });
    return `### ${name.charAt(0).toUpperCase()}${name.slice(1)}

In one line: \`${example}\`

\`\`\`\`
${plan.join('\n')}
\`\`\`\`

| id | task | state |
|---|---|---|
${rows.join('\n')}
`;
  });
  const page = `## Plans that are read

A plan may use any of these formats, or several at once; its text decides, not its name. Each example is followed by the tasks that it
produces. This part of the page is generated from the code.

Every line of a plan is a task, part of a task, prose, or reported as not placed. Tasks without an id are named by their place
(\`todo#1\`) or by the text of their heading. A list of phases that only repeats the headings below it adds no tasks. \`01-02: Write the
parser\` below the heading of phase 1 is a task without a checkbox. A plan has at most 5,000 lines, or objects in JSON; a longer one fails
with \`plan_too_long\`.

The prompt of a task is its \`_Prompt: …_\` or \`**Prompt**\` block; in JSON its \`prompt\`, otherwise its \`details\`. In Markdown, a task or
group without one uses its body: items, paragraphs, code and tables, with the headings above them, but not its parts, requirements,
dependencies, status or comments.

${sections.join('\n')}`;
  await expect(endingWith('docs/how-to/follow-a-plan.md', page)).toMatchFileSnapshot(
    `${ROOT}docs/how-to/follow-a-plan.md`,
  );
});

it('every dialect that is read has a plan on its page', () => {
  expect(Object.keys(PLANS)).toEqual(DIALECTS.map(([name]) => name));
});

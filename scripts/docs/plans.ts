import { DIALECTS, parseTasksMd } from '../../src/ledger/tasks-md/parse-tasks-md.js';
import { endingWith, type Written } from './pages.js';

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
};

export function plansPage(): Written {
  const sections = DIALECTS.map(([name]) => {
    const plan = PLANS[name] ?? [];
    const { tasks, problems } = parseTasksMd(plan.join('\n'));
    if (tasks.length < 2 || problems.some(({ placed }) => !placed))
      throw new Error(`the plan of the dialect ${name} is not read as a plan`);
    const read = tasks.map((task) => {
      const state = [
        task.status,
        ...(task.blocked ? ['blocked'] : []),
        ...(task.optional ? ['optional'] : []),
        ...(task.dependsOn.length > 0 ? [`after ${task.dependsOn.join(', ')}`] : []),
      ];
      return `\`${task.id}\` ${state.join(', ')}`;
    });
    return `**${name.charAt(0).toUpperCase()}${name.slice(1)}**: ${read.join('; ')}

\`\`\`\`
${plan.join('\n')}
\`\`\`\`
`;
  });
  const page = `## Plans that are read

A plan is a Markdown file in any of these formats, or in several at once. Each example is preceded by the ids and states that are read from it. This
part of the page is generated from the code.

A task is a line with a check box, a heading with an id, or, in a plan without these, a numbered item that begins in bold. Every other
line describes a task or is prose. The rest is reported as not placed, with its line. Tasks without an id are named by their place when they are
first read (\`todo#1\`). A plan has at most 5,000 lines; a longer one fails with \`plan_too_long\`.

${sections.join('\n')}`;
  return { 'docs/how-to/run-a-plan.md': endingWith('docs/how-to/run-a-plan.md', page) };
}

/** The kinds of plan that are read, each with a line of it: for the error about a file in which none was found. */
export const DIALECTS: readonly (readonly [name: string, example: string])[] = [
  ['checkbox', '- [ ] Write the parser'],
  ['Kiro, OpenSpec', '- [ ] 1.1 Write the parser'],
  ['spec-kit', '- [ ] T001 [P] [US1] Write the parser'],
  ['BMAD', '- [ ] **Task 1: Write the parser** (AC: #1)'],
  ['GSD', '- [ ] 01-01-PLAN.md — Write the parser'],
  ['heading', '### Phase 1: Parser [IN PROGRESS]'],
  ['numbered line', '1. **✅ Write the parser**'],
  ['table', '| Phase | Status | over | Phase 1 | done |'],
  ['list of a plan', '1. Write the parser (below "## Plan")'],
  ['section', '- Write the parser (below "## 🚧 In progress")'],
  ['Cursor', 'todos: in a front matter, with id, content and status'],
  ['task-master', '{"tasks": [{"id": 1, "title": "Write the parser", "status": "pending"}]}'],
  ['task_001.txt', '# Task ID: 1'],
];

/** The dialects in one line. */
export function dialectExamples(): string {
  return DIALECTS.map(([name, example]) => `${name}: ${example}`).join('; ');
}

import { expect, it } from 'vitest';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { sectionName } from '../../src/shared/wire-words.js';
import { FULL } from '../prompt/budget-cases.js';

const ASKED = { session: 'demo', taskPrompt: 'Write the lexer of the parser', explain: true };

/** Sections of which the state has nothing. */
const OTHERS = ['answers', 'perhaps', 'decided', 'noted', 'unread'];

it.each([
  { ...ASKED, taskId: '1' },
  { ...ASKED, kind: 'iteration' },
  { ...ASKED, kind: 'session-start' },
  { session: 'demo', explain: true, kind: 'session-start' },
])('the page names each part of a prompt: %j', (asked) => {
  const { budget, lines = [] } = compilePrompt(FULL, compileRequest.parse(asked));
  const sections = new Set(
    [...lines, ...budget.sections.map(({ name }) => ({ section: name }))].map((each) => each.section),
  );
  expect(sections.size).toBeGreaterThan(3);
  for (const section of [...sections, ...OTHERS]) expect(sectionName(section)).toMatch(/^[A-Z][a-z ]+$/);
});

import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { ROLES } from '../../src/contracts/kinds.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { DEFAULT_BUDGET, type PromptBudget } from '../../src/prompt/prompt-kind.js';
import { tokensIn } from '../../src/shared/text.js';
import * as fc from '../support/properties.js';
import { CONSTRAINTS, FULL, OBJECTIVE, type PromptCase, promptCases, TASK_PROMPT } from './budget-cases.js';
import { compiledOrError, dispatchRequest, partsOf, roomOf } from './parts.js';

/** Rooms below are too small for a share of them to say much: one line takes a tenth. */
const SAYS_MUCH = 800;

describe('a prompt', () => {
  it('a prompt is never over its budget, uses it where there is more to say, and is never without fixes, blockers and objective', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(promptCases, fc.nat(1500), (given, maxOutputTokens) => {
        const budget = (room: number) => roomOf(room, maxOutputTokens);
        const whole = compilePrompt(given.state, given.request, budget(1e9)).tokenEstimate;
        // From no room at all to all that is asked for.
        for (let share = 0; share <= 20; share += 1) {
          const room = Math.floor((whole * share) / 20);
          seen.add(expectToFit(given, whole, budget(room), room));
        }
      }),
      { numRuns: 60 },
    );
    expect([...seen].sort()).toEqual(['cut', 'error', 'whole']);
  });

  it.each(ROLES)('a prompt for the %s shows nothing less with more room', (role) => {
    const request = dispatchRequest({ role, taskPrompt: TASK_PROMPT });
    const whole = compilePrompt(FULL, request, roomOf(1e6)).tokenEstimate;
    let before: string[] | undefined;
    for (let room = whole; ; room -= 7) {
      const result = compiledOrError(FULL, request, roomOf(room));
      if (!result.ok) break;
      const now = present(result.compiled);
      if (before !== undefined) expect(before).toEqual(expect.arrayContaining(now));
      before = now;
    }
    expect(before).toEqual(expect.arrayContaining(['blockers', 'objective', 'required_fixes']));
    expect(before?.length).toBeLessThan(6);
  });
});

/** Checks the prompt, or the error in its place; says what became of it. */
function expectToFit(given: PromptCase, wanted: number, budget: PromptBudget, room: number) {
  const { state, request, fixes, blockers, objective } = given;
  const result = compiledOrError(state, request, budget);
  if (!result.ok) {
    expectOverflow(result.error, request.role, room);
    return 'error';
  }
  const { compiled } = result;
  const tokens = tokensIn(compiled.prompt);
  expect(compiled.tokenEstimate).toBe(tokens);
  expect(compiled.budget).toMatchObject({ room, used: tokens, wanted, tokenizer: 'approximate' });
  expect(tokens).toBeLessThanOrEqual(room);
  const { packet, taskPrompt, leftOut } = partsOf(compiled);
  expect((packet.required_fixes as string[] | undefined) ?? []).toEqual(
    fixes.map((fix) => expect.stringContaining(fix)),
  );
  expect(packet.blockers ?? []).toEqual(blockers);
  expect(taskPrompt.startsWith(objective)).toBe(true);
  if (wanted <= room) {
    expect(compiled.budget.dropped).toBe(0);
    expect(taskPrompt.startsWith(request.taskPrompt?.trimEnd() ?? '')).toBe(true);
    expect(leftOut).toBe('');
    return 'whole';
  }
  if (room > SAYS_MUCH) expect(tokens).toBeGreaterThanOrEqual(0.8 * room);
  return 'cut';
}

function present(compiled: Parameters<typeof partsOf>[0]): string[] {
  const { packet, replan, guide, notes, taskPrompt } = partsOf(compiled);
  return [
    ...Object.keys(packet),
    ...(JSON.stringify(packet.required_fixes).includes('(src/a.ts)') ? ['file of a fix'] : []),
    ...Object.values(notes).flat(),
    ...replan,
    ...(guide === '' ? [] : ['guide']),
    ...(taskPrompt.startsWith(OBJECTIVE) ? ['objective'] : []),
    ...CONSTRAINTS.filter((line) => taskPrompt.includes(line)),
    ...(taskPrompt.startsWith(TASK_PROMPT) ? ['other lines'] : []),
  ].sort();
}

function expectOverflow(error: unknown, role: string, room: number): void {
  if (!(error instanceof ThroughlineError)) throw error;
  expect(error.code).toBe('prompt_overflow');
  const { tokens } = error.details as { tokens: number };
  expect(error.details).toEqual({ tokens, room, over: tokens - room });
  expect(tokens).toBeGreaterThan(room);
  expect(error.message).toContain(`the ${role} prompt needs ${tokens} tokens`);
  expect(error.message).toContain(`more than the ${room} that it has. Raise budget.inputTokens`);
}

describe('the room for input', () => {
  it.each(ROLES)('the room for input bounds the prompt of its own role: %s', (role) => {
    const taskPrompt = `${OBJECTIVE}\n\n${'one more line to read\n'.repeat(2000)}`;
    const { budget, prompt } = compilePrompt(FULL, dispatchRequest({ role, taskPrompt }), DEFAULT_BUDGET);
    const room = role === 'reviewer' ? 2800 : 3600;
    expect(budget.room).toBe(room);
    expect(budget.used).toBeGreaterThan(room - 20);
    expect(budget.wanted).toBeGreaterThan(10_000);
    expect(prompt).toMatch(/\(1\d\d\d further lines of the task left out for space\)/);
  });

  it('a task prompt that is larger than the room leaves room for the best of the memory', () => {
    const taskPrompt = `Write the lexer\n\n${'one more line to read of the lexer\n'.repeat(2000)}`;
    const { notes, taskPrompt: written } = partsOf(
      compilePrompt(FULL, dispatchRequest({ taskPrompt }), DEFAULT_BUDGET),
    );
    expect(notes['Related work']).toEqual([expect.stringMatching(/^- a lexer for the parser/)]);
    expect(written).toMatch(/further lines of the task left out for space/);
  });

  it('what maxTokens leaves out is counted, and the prompt says it', () => {
    const request = dispatchRequest({ taskPrompt: 'Write the lexer of the parser', maxTokens: 4 });
    const compiled = compilePrompt(FULL, request, DEFAULT_BUDGET);
    expect(compiled.budget.dropped).toBeGreaterThan(0);
    expect(compiled.budget.sections.some(({ shown, total }) => shown < total)).toBe(true);
    expect(compiled.prompt).toMatch(
      / of \d+; all: `throughline facts demo|Not shown: \d+ of the session context/,
    );
  });
});

describe('a task prompt that is shortened', () => {
  const lines = (text: string) => partsOf(shortened(text)).taskPrompt.split('\n');
  const filler = Array.from({ length: 400 }, (_, index) => `Some background that explains point ${index}.`);

  function shortened(taskPrompt: string) {
    const request = dispatchRequest({ taskId: 'not-planned', taskPrompt });
    const compiled = compilePrompt(FULL, request, roomOf(1200));
    expect(compiled.budget.used).toBeLessThan(compiled.budget.wanted);
    return compiled;
  }

  it('a shortened task prompt keeps its objective and its constraints whole and in order, and says what is gone', () => {
    const text = ['Write the parser', 'for the query language.', '', ...filler, ...CONSTRAINTS].join('\n');
    const kept = lines(text);
    const background = kept.filter((line) => filler.includes(line));
    expect(background).toEqual(filler.slice(0, background.length));
    expect(kept.filter((line) => !filler.includes(line) && !line.endsWith('...'))).toEqual([
      ...['Write the parser', 'for the query language.', ...CONSTRAINTS],
      expect.stringMatching(/^\(\d+ further lines of the task left out for space/),
    ]);
  });

  it.each([
    'It MUST be pure.',
    'never read the clock',
    'Don’t touch the store; do not rename it',
    "don't log secrets",
    'Requirements: 1.2, 3',
    'Success: all tests pass',
    'Acceptance criteria:',
    'at most 200 ms',
    '必须检查边界',
    '不得修改接口',
    '必ず確認する',
  ])('a shortened task prompt keeps this as a constraint: %s', (line) => {
    expect(lines(['Do it.', '', ...filler, line].join('\n'))).toContain(line);
  });

  it('a line that is longer than the room is cut, and that is said', () => {
    const kept = lines(`Do it.\n\n${'one more word '.repeat(2000)}`);
    expect(kept[0]).toBe('Do it.');
    expect(kept[1]).toMatch(/^one more word .*\.\.\.$/);
    expect(kept[2]).toBe('(a long line is cut)');
  });
});

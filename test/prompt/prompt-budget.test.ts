import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMPACTION_STAGES } from '../../src/contracts/budget-report.js';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { ROLES } from '../../src/contracts/kinds.js';
import { compileDispatch } from '../../src/prompt/compile-dispatch.js';
import { DEFAULT_BUDGET, inputTokens, type PromptBudget } from '../../src/prompt/prompt-budget.js';
import { approximateTokenizer } from '../../src/shared/tokenizer.js';
import { loadTokenizer } from '../../src/tokenizers/load-tokenizer.js';
import { CONSTRAINTS, FULL, OBJECTIVE, type PromptCase, promptCases, TASK_PROMPT } from './budget-cases.js';
import { compiledOrError, dispatchRequest, measured, partsOf, roomOf } from './parts.js';

const exact = await loadTokenizer('o200k_base');

describe.each([
  { tokenizer: approximateTokenizer, numRuns: 100 },
  { tokenizer: exact, numRuns: 40 },
])('counted by $tokenizer.name, a prompt', ({ tokenizer, numRuns }) => {
  it('a prompt is never over its budget, and never without fixes, blockers and objective', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(promptCases, fc.nat(1500), (given, maxOutputTokens) => {
        const whole = compileDispatch(
          given.state,
          given.request,
          roomOf(1e9, tokenizer, maxOutputTokens),
        ).tokenEstimate;
        // From no room at all to all that is asked for.
        for (let share = 0; share <= 20; share += 1) {
          const room = Math.floor((whole * share) / 20);
          seen.add(expectToFit(given, whole, roomOf(room, tokenizer, maxOutputTokens)));
        }
      }),
      { numRuns },
    );
    expect([...seen].toSorted()).toEqual([...COMPACTION_STAGES, 'error'].toSorted());
  });

  it.each([
    {
      role: 'implementer' as const,
      cheap: ['totals', 'active_task', 'plan_version', 'earlier_summary', 'summary'],
      dear: ['current_task', 'issues', 'assessment'],
      last: ['changed_files', 'failing_tests'],
    },
    {
      role: 'reviewer' as const,
      cheap: ['totals', 'active_task', 'plan_version'],
      dear: ['current_task', 'assessment', 'passing_tests', 'follow_ups', 'earlier_summary'],
      last: ['issues', 'summary', 'failing_tests', 'changed_files'],
    },
  ])(
    'a prompt loses what the $role can spare in a fixed order, and the least important parts first',
    ({ role, cheap, dear, last }) => {
      const request = dispatchRequest({ role, taskPrompt: TASK_PROMPT });
      const whole = compileDispatch(FULL, request, roomOf(1e6, tokenizer));
      const losses: string[] = [];
      const stages: string[] = [];
      let before = present(whole);
      for (let room = whole.tokenEstimate; ; room -= 1) {
        const result = compiledOrError(FULL, request, roomOf(room, tokenizer));
        const stage = result.ok ? result.compiled.budget.stage : 'error';
        if (stages.at(-1) !== stage) stages.push(stage);
        if (!result.ok) break;
        const now = present(result.compiled);
        losses.push(...before.filter((part) => !now.includes(part)));
        before = now;
      }
      expect(stages).toEqual([...COMPACTION_STAGES, 'error']);
      expect(losses).toEqual([
        ...cheap,
        ...['fact 3', 'fact 2', 'fact 1'],
        ...dear,
        'other lines',
        ...last,
        ...['constraints', 'guide', 'replan'],
        'file of a fix',
      ]);
      expect(before).toEqual(['blockers', 'objective', 'required_fixes']);
    },
  );
});

/** Checks the prompt, or the error in its place; gives the stage. */
function expectToFit(given: PromptCase, whole: number, budget: PromptBudget): string {
  const { state, request, fixes, blockers, objective } = given;
  const room = inputTokens(budget, request.role);
  const result = compiledOrError(state, request, budget);
  if (!result.ok) {
    expectOverflow(result.error, request.role, room);
    return 'error';
  }
  const { compiled } = result;
  const tokens = measured(compiled, budget);
  const stage = compiled.budget.stage;
  expect(tokens).toBeLessThanOrEqual(room);
  expect(compiled.tokenEstimate).toBe(tokens);
  expect(compiled.budget).toEqual({
    stage,
    inputTokens: room,
    tokensBefore: whole,
    tokensAfter: tokens,
    tokenizer: budget.tokenizer.name,
  });
  expect(stage === 'none').toBe(whole <= room);
  const { packet, taskPrompt } = partsOf(compiled);
  expect(packet.required_fixes ?? []).toEqual(fixes);
  expect(packet.blockers ?? []).toEqual(blockers);
  expect(taskPrompt.startsWith(objective)).toBe(true);
  if (stage === 'none' || stage === 'pruned') expect(taskPrompt).toBe(request.taskPrompt);
  const constraints = request.taskPrompt.split('\n').filter((line) => CONSTRAINTS.includes(line));
  if (stage === 'shortened') expect(taskPrompt.split('\n')).toEqual(expect.arrayContaining(constraints));
  return stage;
}

/** What a prompt still holds, by name. */
function present(compiled: Parameters<typeof partsOf>[0]): string[] {
  const { packet, replan, guide, context, taskPrompt } = partsOf(compiled);
  return [
    ...Object.keys(packet),
    ...(JSON.stringify(packet.required_fixes).includes('(src/a.ts)') ? ['file of a fix'] : []),
    ...context.map((_, index) => `fact ${index + 1}`),
    ...(replan.length > 0 ? ['replan'] : []),
    ...(guide === '' ? [] : ['guide']),
    ...(taskPrompt.startsWith(OBJECTIVE) ? ['objective'] : []),
    ...(CONSTRAINTS.every((line) => taskPrompt.includes(line)) ? ['constraints'] : []),
    ...(taskPrompt === TASK_PROMPT ? ['other lines'] : []),
  ].sort();
}

function expectOverflow(error: unknown, role: string, room: number): void {
  if (!(error instanceof ThroughlineError)) throw error;
  expect(error.code).toBe('prompt_overflow');
  expect(error.details).toEqual({ role, tokens: expect.any(Number), inputTokens: room });
  expect(error.details?.tokens).toBeGreaterThan(room);
}

describe('the room for input', () => {
  it('the room for input is the cap of the role less the room for the answer', () => {
    expect(ROLES.map((role) => [role, inputTokens(DEFAULT_BUDGET, role)])).toEqual([
      ['implementer', 3600],
      ['reviewer', 2800],
      ['observer', 3600],
    ]);
    expect(inputTokens({ ...DEFAULT_BUDGET, maxOutputTokens: 0 }, 'reviewer')).toBe(4000);
    expect(inputTokens({ ...DEFAULT_BUDGET, maxOutputTokens: 9000 }, 'reviewer')).toBe(0);
  });

  it.each(ROLES)('the room for input bounds the prompt of its own role: %s', (role) => {
    const taskPrompt = `${OBJECTIVE}\n\n${'one more line to read\n'.repeat(2000)}`;
    const { budget, prompt } = compileDispatch(FULL, dispatchRequest({ role, taskPrompt }), DEFAULT_BUDGET);
    expect(budget).toMatchObject({ stage: 'shortened', inputTokens: role === 'reviewer' ? 2800 : 3600 });
    expect(budget?.tokensBefore).toBeGreaterThan(10_000);
    expect(prompt).toContain('(2000 further lines of the task are left out for space)');
  });
});

describe('a task prompt that is shortened', () => {
  const lines = (text: string) => partsOf(shortened(text)).taskPrompt.split('\n');
  const filler = Array.from({ length: 400 }, (_, index) => `Some background that explains point ${index}.`);

  function shortened(taskPrompt: string) {
    const compiled = compileDispatch(
      FULL,
      dispatchRequest({ taskPrompt }),
      roomOf(1200, approximateTokenizer),
    );
    expect(compiled.budget?.stage).toBe('shortened');
    return compiled;
  }

  it('a shortened task prompt keeps its objective and its constraints whole and in order, and says what is gone', () => {
    const text = ['Write the parser', 'for the query language.', '', ...filler, ...CONSTRAINTS].join('\n');
    expect(lines(text)).toEqual([
      ...['Write the parser', 'for the query language.', ...CONSTRAINTS],
      '(400 further lines of the task are left out for space)',
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

  it('a shortened task prompt reads lines that end in CR LF', () => {
    const kept = lines(['Do it.', '', ...filler, 'It must be pure.'].join('\r\n'));
    expect(kept.map((line) => line.trimEnd())).toEqual([
      ...['Do it.', 'It must be pure.', '(400 further lines of the task are left out for space)'],
    ]);
  });
});

describe('what does not fit', () => {
  it('a prompt that does not fit is an error that names role, need and room, whatever is too long', () => {
    const budget: PromptBudget = DEFAULT_BUDGET;
    const result = compiledOrError(FULL, dispatchRequest({ taskPrompt: 'x'.repeat(30_000) }), budget);
    if (result.ok) throw new Error('it fits');
    expectOverflow(result.error, 'implementer', 3600);
    expect(result.error).toMatchObject({
      message: expect.stringMatching(/^the implementer prompt needs \d+ tokens .*3600 are left.*taskPrompt/),
    });
  });
});

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FACT_TAGS, ROLES, type Role, stablePrefix } from '../../src/contracts/kinds.js';
import type { RoleResult } from '../../src/contracts/results.js';
import type { SessionEvent } from '../../src/contracts/session-events.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { DEFAULT_BUDGET } from '../../src/prompt/prompt-kind.js';
import { implementer, recorded, rejected, reviewer, stored } from '../support/builders.js';
import { progressTask, runInitialized } from '../support/ledgers.js';
import { TASK_PROMPT } from './budget-cases.js';
import { compiledOrError, dispatchRequest, FIELDS, partsOf, roomOf } from './parts.js';

function stateAfter(...events: readonly SessionEvent[]): SessionState {
  return stored(events).reduce(evolve, emptyState('demo'));
}

const sent = (task_id: string, ...required_fixes: string[]) => reviewer({ task_id, required_fixes });

/** Task 1 is stalled, task 2 taught something, and a run says what there is to do. */
const CIRCLING = stateAfter(
  runInitialized([progressTask('1', { requirements: ['1.2'] }), progressTask('2', { status: 'completed' })]),
  recorded(1, implementer({ task_id: '2', files_modified: ['src/store.ts'], summary: 'made the store' })),
  recorded(2, implementer({ summary: 'first try' })),
  recorded(3, sent('1', 'close the file')),
  recorded(4, implementer({ summary: 'second try' })),
  recorded(5, sent('1', 'close the file')),
);

function compile(state: SessionState, overrides: Parameters<typeof dispatchRequest>[0] = {}) {
  return compilePrompt(state, dispatchRequest(overrides), DEFAULT_BUDGET);
}

describe('a dispatch prompt', () => {
  it('a dispatch prompt is prefix, task, what is known so far, replan, guide, session context and task prompt', () => {
    const compiled = compile(CIRCLING);
    const { prefix, head, packet, replan, guide, notes, leftOut, taskPrompt } = partsOf(compiled);
    expect(prefix).toBe(stablePrefix('implementer'));
    expect(head).toEqual(['Task 1, round 3', 'Plan: 1 of 2 done']);
    expect(packet).toEqual({
      required_fixes: ['close the file'],
      assessment: 'needs changes',
      summary: 'second try',
      earlier_summary: 'first try',
    });
    expect(replan).toEqual([
      expect.stringMatching(/^Replan: .*another approach/),
      expect.stringMatching(/^- ping_pong \(2 times\), completed, then sent back .*: close the file$/),
      '- same_fixes (2 times), the same fix required again: close the file (2 times)',
      'Tried already, the newest last:',
      '- completed: first try. Refused by the review: close the file',
      '- completed: second try. Refused by the review: close the file',
    ]);
    expect(guide).toMatch(/^Guide: Settle the required fixes first/);
    expect(notes).toEqual({
      'Likely files': ['- src/store.ts (the task names it)'],
      'Related work': ['- made the store | Files: src/store.ts [task:2, 1 Jan]'],
    });
    expect(leftOut).toBe('');
    expect(taskPrompt).toBe('Change src/store.ts\n\nPlan task 1: do 1\nRequirements:\n- 1.2');
    expect(compiled.budget).toMatchObject({ room: 3600, dropped: 0, tokenizer: 'approximate' });
    expect(compiled.budget.used).toBe(compiled.budget.wanted);
  });

  it('a test that passes is not among the failing tests', () => {
    const notesAfter = (passed: boolean) => {
      const tests = [{ command: 'npm run parse', passed }];
      const state = stateAfter(recorded(1, implementer({ task_id: '2', tests })));
      return partsOf(compile(state, { taskPrompt: 'npm run parse task' })).notes;
    };
    expect(notesAfter(false)).toHaveProperty(['Failing tests']);
    expect(notesAfter(true)).not.toHaveProperty(['Failing tests']);
    expect(notesAfter(true)).not.toHaveProperty(['Also known']);
  });

  it('what is known of a task names its only result, and of several none', () => {
    const sources = (...events: SessionEvent[]) => {
      const { lines = [] } = compile(stateAfter(...events), { include: ['lines'] });
      return lines.flatMap(({ section, dispatch }) => (section === 'ledger' ? [dispatch] : []));
    };
    const made = recorded(1, implementer({ files_modified: ['a.ts'] }));
    expect(new Set(sources(made))).toEqual(new Set([1]));
    expect(new Set(sources(made, recorded(2, sent('1', 'close'))))).toEqual(new Set([undefined]));
  });

  it('a dispatch prompt names the progress of its plan', () => {
    const state = stateAfter(
      runInitialized([progressTask('1'), progressTask('2', { status: 'completed' }), progressTask('3')]),
    );
    expect(partsOf(compile(state)).head).toEqual(['Task 1', 'Plan: 1 of 3 done']);
    expect(partsOf(compile(state, { taskId: '9', taskPrompt: 'Something else' })).head).toHaveLength(1);
    const approved = stateAfter(
      runInitialized([progressTask('1'), progressTask('2')]),
      recorded(1, reviewer({ task_id: '2', assessment: 'approved' })),
    );
    expect(partsOf(compile(approved)).head).toEqual(['Task 1', 'Plan: 0 of 2 done, 1 more approved']);
  });

  it('a dispatch prompt loses its replan section when the work is approved', () => {
    const state = stateAfter(
      ...[recorded(1, implementer()), recorded(2, sent('1', 'a')), recorded(3, implementer())],
      ...[recorded(4, sent('1', 'a')), recorded(5, reviewer({ assessment: 'approved' }))],
    );
    const { packet, replan } = partsOf(compile(state));
    expect(replan).toEqual([]);
    expect(packet).not.toHaveProperty('required_fixes');
    expect(packet).toMatchObject({ assessment: 'approved' });
  });

  it.each(ROLES)('a dispatch prompt is the same as messages: %s', (role) => {
    const { prompt, messages } = compile(CIRCLING, { role });
    expect(messages).toEqual([
      { role: 'system', content: stablePrefix(role) },
      {
        role: 'user',
        content: expect.stringMatching(
          /^Task 1, round 3\n[\s\S]*\nChange src\/store\.ts\n\nPlan task 1: do 1\n/,
        ),
      },
    ]);
    expect(messages?.map(({ content }) => content).join('\n\n')).toBe(prompt);
  });
});

describe('the line of a result that could not be read', () => {
  const line = (asked: Role, ...events: SessionEvent[]) =>
    partsOf(compile(stateAfter(...events), { role: asked })).unreadable;
  const why = { task: '1', reason: 'status is "finished", use completed', fix: 'set status to completed' };

  it('a prompt says once that the last result of its task could not be read, why, and what to return', () => {
    expect(line('implementer', recorded(1, reviewer()), rejected(2, { role: 'implementer', ...why }))).toBe(
      'Unreadable: Your last result of this task could not be read ("status is \\"finished\\", use completed"). ' +
        'Do not redo work that is done: return its result again as the contract above says.',
    );
    expect(line('reviewer', rejected(2, { task: '1' }))).toMatch(
      /^Unreadable: Your last result .* \("status is missing"\)\. Do not redo/,
    );
  });

  it('a prompt of another role does not say it, nor does a prompt of a role whose result came as that of another', () => {
    expect(line('implementer', rejected(2, { role: 'reviewer', ...why }))).toBe('');
    const misplaced = {
      role: 'implementer' as const,
      task: '1',
      reason: 'this is a review',
      meant: 'reviewer' as const,
    };
    for (const role of ROLES) expect(line(role, rejected(2, misplaced))).toBe('');
  });

  it('a prompt says of a result that failed on every delivery that it could not be stored', () => {
    const gone = rejected(2, { role: 'implementer', task: '1', reason: 'still failing after 5 deliveries' });
    const { error } = gone.data;
    const event = { ...gone, data: { ...gone.data, error: { ...error, code: 'deliveries_exhausted' } } };
    expect(line('implementer', event as SessionEvent)).toBe(
      'Unreadable: Your last result of this task could not be stored. ' +
        'Do not redo work that is done: return its result again as the contract above says.',
    );
  });

  it('a prompt no longer says it once a result of the task could be read, and never of another task', () => {
    const wrong = rejected(2, { role: 'implementer', ...why });
    expect(line('implementer', wrong, recorded(3, implementer()))).toBe('');
    expect(line('implementer', recorded(3, implementer()), wrong)).toBe('');
    expect(line('implementer', rejected(2, { ...why, task: '2' }))).toBe('');
    expect(line('implementer', rejected(2, { reason: why.reason }))).toBe('');
  });

  it('a prompt says it in any room that holds anything at all', () => {
    const state = stateAfter(recorded(1, sent('1', 'a')), rejected(2, { role: 'implementer', ...why }));
    const request = dispatchRequest({ taskPrompt: TASK_PROMPT });
    const sizes = new Set<string>();
    for (let room = 100; room < 900; room += 10) {
      const result = compiledOrError(state, request, roomOf(room));
      if (!result.ok) continue;
      const { used, wanted, dropped } = result.compiled.budget;
      sizes.add(used === wanted ? 'whole' : dropped > 10 ? 'bare' : 'cut');
      expect(partsOf(result.compiled).unreadable).toMatch(/^Unreadable: .*use completed/);
    }
    expect([...sizes]).toEqual(['bare', 'cut', 'whole']);
  });
});

describe('the delta packet', () => {
  const packetAfter = (...results: Parameters<typeof recorded>[1][]) =>
    partsOf(compile(stateAfter(...results.map((result, index) => recorded(index + 1, result))))).packet;

  it('the delta packet holds only fields with content', () => {
    expect(Object.keys(packetAfter(implementer()))).toEqual(['summary']);
    expect(Object.keys(packetAfter(implementer({ status: 'blocked', blockers: ['no token'] })))).toEqual([
      'blockers',
      'summary',
    ]);
    expect(packetAfter(reviewer({ assessment: 'approved' }))).toEqual({
      assessment: 'approved',
    });
  });
});

const REVIEWED = reviewer({
  required_fixes: ['Do not lose the last line', 'make the linter pass'],
  issues: [
    { severity: 'minor', message: 'odd name' },
    { severity: 'critical', file: 'src/a.ts', message: 'The last line is lost', fix: 'do flush at the end' },
  ],
});
const WORK = implementer({
  summary: 'wrote it',
  files_modified: ['src/a.ts', 'src/b.ts'],
  tests: [
    { command: 'npm test', passed: false, failures: ['a', 'b', 'c', 'd', 'e'] },
    { command: 'npm run lint', passed: true },
  ],
  follow_up_actions: ['measure it'],
});
const MORE_WORK = implementer({
  summary: 'flushed',
  files_modified: ['src/a.ts'],
  tests: [{ command: 'npm test', passed: true }],
});

describe('the prompt of a role', () => {
  const partsAfter = (role: Role, ...results: RoleResult[]) =>
    partsOf(compile(stateAfter(...results.map((result, index) => recorded(index + 1, result))), { role }));
  const fixes = ['Do not lose the last line (src/a.ts; fix: do flush at the end)', 'make the linter pass'];
  const issues = ['critical: src/a.ts: The last line is lost (fix: do flush at the end)', 'minor: odd name'];
  const work = {
    summary: 'wrote it',
    changed_files: ['src/a.ts', 'src/b.ts'],
    failing_tests: ['npm test: a; b; c; 2 more'],
  };

  it('the prompt of a reviewer says what to review: summary, files, tests with failures and follow-ups', () => {
    const { packet, guide } = partsAfter('reviewer', WORK);
    expect(packet).toMatchObject({ ...work, passing_tests: ['npm run lint'], follow_ups: ['measure it'] });
    expect(guide).toBe(
      'Guide: Review the work that is listed above. See the last result, the changed files, the failing tests, the passing tests and the follow-ups above for what was done.',
    );
  });

  it('the prompt of a reviewer says on a second round which findings to check, beside the new work', () => {
    const { packet, guide } = partsAfter('reviewer', WORK, REVIEWED, MORE_WORK);
    expect(packet).toMatchObject({
      required_fixes: fixes,
      issues,
      summary: 'flushed',
      earlier_summary: 'wrote it',
      changed_files: ['src/a.ts', 'src/b.ts'],
      passing_tests: ['npm test'],
      follow_ups: ['measure it'],
    });
    expect(packet).not.toHaveProperty('failing_tests');
    expect(guide).toMatch(
      /^Guide: Check first that the work settles the required fixes and the findings of the last review, then/,
    );
  });

  it('the prompt of an implementer who has to fix something names the last try, and each fix with its file', () => {
    const { packet, guide } = partsAfter('implementer', WORK, REVIEWED);
    expect(packet).toMatchObject({ ...work, required_fixes: fixes, issues });
    expect(packet).not.toHaveProperty('passing_tests');
    expect(packet).not.toHaveProperty('follow_ups');
    expect(guide).toBe(
      'Guide: Settle the required fixes and the findings of the last review first, then do what is left of the task. See the last result, the changed files and the failing tests above for what was done so far.',
    );
  });

  it('the prompt of an approved task asks for what the task prompt says alone, until there is new work', () => {
    const approved = [WORK, reviewer({ assessment: 'approved' })];
    expect(partsAfter('implementer', ...approved).guide).toMatch(
      /^Guide: The task was approved: change only what the task prompt asks\./,
    );
    expect(partsAfter('reviewer', ...approved, MORE_WORK).guide).toMatch(/^Guide: Review the work/);
  });

  it('the guide of a prompt names the fields that its ledger has, and no others', () => {
    // It names neither the verdict of the review nor the place in the plan.
    const fields = Object.entries(FIELDS).filter(([, field]) => field !== 'assessment' && field !== 'plan');
    const histories = [
      [implementer({ status: 'blocked', blockers: ['no key'] })],
      [WORK],
      [WORK, REVIEWED],
      [WORK, REVIEWED, MORE_WORK],
      [implementer(), reviewer({ required_fixes: ['x'] })],
    ];
    for (const role of ['implementer', 'reviewer'] as const)
      for (const history of histories) {
        const { guide, packet } = partsAfter(role, ...history);
        const known = fields.filter(([, field]) => packet[field] !== undefined);
        // Blockers are not the reviewer's to settle.
        const named = role === 'reviewer' ? known.filter(([, field]) => field !== 'blockers') : known;
        expect(fields.filter(([title]) => guide.includes(`the ${title.toLowerCase()}`))).toEqual(named);
      }
  });

  it('tests that passed in a round that was sent back are not shown as passing, until the next round', () => {
    const passed = implementer({ tests: [{ command: 'npm run lint', passed: true }] });
    const packetAfter = (...history: RoleResult[]) => partsAfter('reviewer', ...history).packet;
    expect(packetAfter(passed, REVIEWED)).toMatchObject({ refuted_tests: ['npm run lint'] });
    expect(packetAfter(passed, REVIEWED)).not.toHaveProperty('passing_tests');
    expect(packetAfter(passed, REVIEWED, passed)).toMatchObject({ passing_tests: ['npm run lint'] });
  });

  it('the contract of an observer lists the tags that a fact may have', () => {
    expect(stablePrefix('observer')).toContain(`tags [${FACT_TAGS.join(' | ')}]`);
  });

  it('the prompt of a reviewer does not ask it to do the work again, not even while the task is stalled', () => {
    const round = [WORK, REVIEWED];
    const { replan, guide } = partsAfter('reviewer', ...round, ...round);
    expect(replan[0]).toMatch(/^Replan: .*Approve it if it is settled now/);
    expect([replan[0], guide].join()).not.toMatch(/say in the summary|another approach|do the task/);
    expect(replan).toContain('Tried already, the newest last:');
  });

  it('the prompt of a role lists twenty files, and says how many more there are', () => {
    const files_modified = Array.from({ length: 30 }, (_, index) => `src/${index}.ts`);
    const { packet } = partsAfter('reviewer', implementer({ files_modified }));
    expect(packet.changed_files).toEqual([...files_modified.slice(0, 20), '10 more']);
  });
});

describe('what another task left to do', () => {
  const WEEK = 7 * 86_400;
  const left = implementer({ task_id: '2', follow_up_actions: ['Rename the columns of the yearly ledger'] });
  const promptAfter = (results: number, from: number, taskPrompt: string) =>
    compilePrompt(
      stateAfter(
        recorded(1, left),
        ...Array.from({ length: results }, (_, at) =>
          recorded(from + at, implementer({ task_id: `t${at}`, files_modified: ['a.ts'] })),
        ),
      ),
      dispatchRequest({ taskId: '9', taskPrompt }),
    ).prompt;

  it.each([
    [60, 2, 'Sum the ledger', true],
    [40, WEEK, 'Sum the ledger', true],
    [60, WEEK, 'Sum the ledger', false],
    [60, WEEK, 'Sum the columns of the yearly ledger', true],
  ])('after %i results from second %i on, "%s" is told of it: %s', (results, from, taskPrompt, isShown) => {
    expect(promptAfter(results, from, taskPrompt).includes('Rename the columns')).toBe(isShown);
  });
});

describe('two compiles at one sequence', () => {
  it('two compiles of two tasks have the same prefix and its hash, and different tails', () => {
    const [one, two] = [compile(CIRCLING), compile(CIRCLING, { taskId: '2' })];
    expect(one.stablePrefixHash).toBe(two.stablePrefixHash);
    expect(one.messages?.[0]).toEqual(two.messages?.[0]);
    expect(one.messages?.[1]).not.toEqual(two.messages?.[1]);
    expect(one.fullPromptHash).not.toBe(two.fullPromptHash);
  });

  it('the hashes of a prompt name what they hash: 16 hex characters of the SHA-256', () => {
    const { prompt, stablePrefixHash, fullPromptHash } = compile(CIRCLING);
    const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
    expect(stablePrefixHash).toBe(hash(stablePrefix('implementer')));
    expect(fullPromptHash).toBe(hash(prompt));
  });
});

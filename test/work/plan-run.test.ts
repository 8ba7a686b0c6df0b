import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/contracts/kinds.js';
import type { RunRules } from '../../src/work/plan-run.js';
import { nextStep, type WorkTask } from '../../src/work/task-step.js';
import { type Answers, PlayedRun, type PlayedTask } from '../support/played-run.js';
import * as fc from '../support/properties.js';

/** The rules of a run, on sessions that are only played. */

const RULES: RunRules = { maxRounds: 3, tick: true };
const plain = (id: string, dependsOn: string[] = []): PlayedTask => ({
  id,
  dependsOn,
  isOptional: false,
  isBlocked: false,
});
const good: Answers = (_, part) => (part === 'work' ? 'completed' : 'approved');
const steps = (run: PlayedRun) => run.begun.map(({ task, step }) => `${task} ${step.kind}`);

describe('the next step of a task', () => {
  const task: WorkTask = {
    id: '1',
    text: '',
    from: 'plan',
    isDone: false,
    isUnticked: false,
    isOptional: false,
    waitsFor: [],
    questions: [],
    results: 2,
    rounds: 1,
    stall: 'none',
  };
  it.each([
    ['begins with work', { results: 0, rounds: 0 }, { kind: 'implement', round: 1, replans: false }],
    ['is a review after completed work', { last: 'implementer_completed' }, { kind: 'judge', round: 1 }],
    [
      'is work after changes were asked for',
      { last: 'reviewer_needs_changes' },
      { kind: 'implement', round: 2 },
    ],
    ['is work after failed work', { last: 'implementer_failed' }, { kind: 'implement', round: 2 }],
    ['is work after blocked work', { last: 'implementer_blocked' }, { kind: 'implement', round: 2 }],
    ['waits while a question is open', { last: 'implementer_blocked', question: 'open' }, { kind: 'wait' }],
    ['is a review after an answer', { last: 'reviewer_blocked', question: 'answered' }, { kind: 'judge' }],
    [
      'is for a person where the review keeps asking what was answered',
      { last: 'reviewer_blocked', question: 'answered', stall: 'beyond' },
      { kind: 'needed' },
    ],
    ['is for a person where the review says so', { last: 'reviewer_blocked' }, { kind: 'needed' }],
    [
      'replans a stalled task',
      { last: 'reviewer_needs_changes', rounds: 2, stall: 'replan' },
      { replans: true },
    ],
    [
      'is for a person if that fails',
      { last: 'reviewer_needs_changes', stall: 'beyond' },
      { kind: 'needed' },
    ],
    [
      'is the limit once the rounds are used up',
      { last: 'implementer_failed', rounds: 3 },
      { kind: 'limit' },
    ],
  ] satisfies [string, Partial<WorkTask>, object][])('%s', (_, known, step) => {
    expect(nextStep({ ...task, ...known }, 3, false)).toMatchObject(step);
  });

  it('is one more where the caller wants that, whatever keeps the task from it', () => {
    expect(nextStep({ ...task, last: 'reviewer_blocked' }, 3, true).kind).toBe('judge');
    expect(nextStep({ ...task, last: 'implementer_failed', rounds: 9 }, 3, true).kind).toBe('implement');
    expect(nextStep({ ...task, last: 'reviewer_needs_changes', stall: 'beyond' }, 3, true).kind).toBe(
      'implement',
    );
  });
});

describe('a run', () => {
  it('finishes a task before it begins the next', () => {
    const run = new PlayedRun([plain('1'), plain('2')], good);
    expect(run.run(RULES)).toBe('done');
    expect(steps(run)).toEqual([
      ...['1 implement', '1 judge', '1 close'],
      ...['2 implement', '2 judge', '2 close'],
    ]);
  });

  it('leaves optional tasks until the required ones are done, and blocked ones to a person', () => {
    const run = new PlayedRun(
      [{ ...plain('1'), isOptional: true }, plain('2'), { ...plain('3'), isBlocked: true }],
      good,
    );
    expect(run.run(RULES)).toBe('needed');
    expect(steps(run)).toEqual(['2 implement', '2 judge', '2 close']);
  });

  it('ends at a task that is stuck', () => {
    const stuck: Answers = (task, part) =>
      part === 'work' ? 'completed' : task === '1' ? 'blocked' : 'approved';
    const run = new PlayedRun([plain('1'), plain('2', ['1']), plain('3')], stuck);
    expect(run.run(RULES)).toBe('needed');
    expect(new Set(run.begun.map(({ task }) => task))).toEqual(new Set(['1']));
  });
});

/** Plans in which a task depends on earlier ones. */
const plans = fc
  .array(fc.record({ needs: fc.array(fc.nat(6), { maxLength: 2 }), kind: fc.nat(9) }), {
    minLength: 1,
    maxLength: 7,
  })
  .map((tasks) =>
    tasks.map(
      ({ needs, kind }, index): PlayedTask => ({
        id: String(index + 1),
        dependsOn: [...new Set(needs.filter((need) => need < index).map((need) => String(need + 1)))],
        isOptional: kind === 0,
        isBlocked: kind === 1,
      }),
    ),
  );
const WORK: readonly Verdict[] = ['completed', 'completed', 'completed', 'failed', 'blocked'];
const REVIEW: readonly Verdict[] = ['approved', 'approved', 'needs_changes', 'blocked'];
/** Answers by the place in the history of a task: so they are the same after a kill. */
const answers = fc.array(fc.nat(59), { minLength: 20, maxLength: 20 }).map((numbers): Answers => {
  return (task, part, results) => {
    const number = numbers[(Number(task) * 7 + results) % numbers.length] ?? 0;
    const verdicts = part === 'work' ? WORK : REVIEW;
    return verdicts[number % verdicts.length] ?? 'completed';
  };
});
const rules = fc.record({
  maxRounds: fc.integer({ min: 1, max: 4 }),
  tick: fc.constant(true),
});
describe('any run', () => {
  it('ends, with rounds bounded, no task begun before what it depends on, and none approved twice', () => {
    fc.assert(
      fc.property(plans, answers, rules, (plan, says, given) => {
        const run = new PlayedRun(plan, says);
        const outcome = run.run(given);
        for (const { id, dependsOn, isBlocked } of plan) {
          const results = run.results.get(id) ?? [];
          const rounds = results.filter(({ part }) => part === 'work').length;
          expect(rounds).toBeLessThanOrEqual(given.maxRounds);
          expect(results.filter(({ verdict }) => verdict === 'approved').length).toBeLessThanOrEqual(1);
          if (isBlocked) expect(results).toEqual([]);
          if (results.length > 0) for (const other of dependsOn) expect(isApproved(run, other)).toBe(true);
          if (isApproved(run, id)) expect(run.ticked.has(id)).toBe(true);
        }
        expect(outcome === 'done').toBe(plan.every(({ id }) => isApproved(run, id)));
      }),
      { numRuns: 150 },
    );
  });
});

function isApproved(run: PlayedRun, id: string): boolean {
  return run.results.get(id)?.at(-1)?.verdict === 'approved';
}

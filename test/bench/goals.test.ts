import { describe, expect, it } from 'vitest';
import { type Goal, isMet, losses } from '../../scripts/bench/goals.mjs';
import { aligned, page, verdict } from '../../scripts/bench/report.mjs';
import { median, quantile } from '../../scripts/bench/stats.mjs';

const faster: Goal = { id: 'faster', work: 'ingest', against: 'a relay', atLeast: 0.7, unit: 'times' };
const slower: Goal = { id: 'slower', work: 'compile', against: 'an echo', atMost: 2.5, unit: 'times' };
const memory: Goal = { id: 'memory', work: 'resident', against: 'a limit', atMost: 250, unit: 'MB' };

describe('a quantile', () => {
  it.each([
    [[3, 1, 2], 0.5, 2],
    [[4, 3, 2, 1], 0.99, 4],
    [[10, 9], 0, 9],
    [[7], 1, 7],
  ])('a quantile of %j at %d is %d', (values, q, expected) => {
    expect(quantile(values, q)).toBe(expected);
  });

  it('a quantile leaves its values as they were', () => {
    const values = [3, 1, 2];
    expect(median(values)).toBe(2);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe('a goal', () => {
  it.each([
    [faster, 0.7, true],
    [faster, 0.69, false],
    [slower, 2.5, true],
    [slower, 2.51, false],
    [slower, undefined, undefined],
  ])('a goal %j with %d: %s', (goal, value, met) => {
    expect(isMet(goal, value)).toBe(met);
  });

  it('a goal has a verdict of one line', () => {
    expect(verdict(faster, 0.5)).toBe('missed       ingest: 0.50 times, at least 0.7 times (a relay)');
    expect(verdict(memory, 200)).toBe('met          resident: 200.0 MB, at most 250 MB (a limit)');
    expect(verdict(slower, undefined)).toBe('not measured compile: –, at most 2.5 times (an echo)');
  });
});

describe('the guard', () => {
  const goals = [faster, slower, memory];

  it.each([
    ['a little less of what should be much', { faster: 0.81 }],
    ['a little more of what should be little', { slower: 2.4 }],
    ['better ratios', { faster: 2, slower: 0.5 }],
    ['absolute figures, which belong to a machine', { memory: 9000 }],
    ['what was not measured', {}],
  ])('the benchmark guard lets pass %s', (_, measured) => {
    expect(losses(goals, { faster: 1, slower: 2, memory: 100 }, measured)).toEqual([]);
  });

  it('the benchmark guard finds what has got worse by more than a fifth, in either direction', () => {
    const lost = losses(goals, { faster: 1, slower: 2 }, { faster: 0.79, slower: 2.6 });
    expect(lost.map(({ goal, loss }) => [goal.id, loss.toFixed(2)])).toEqual([
      ['faster', '0.21'],
      ['slower', '0.23'],
    ]);
  });

  it('the benchmark guard has nothing to say of a goal that was never committed', () => {
    expect(losses(goals, {}, { faster: 0.1 })).toEqual([]);
  });
});

describe('the page', () => {
  const run = {
    name: 'ingest',
    goals: [faster, slower],
    measured: { faster: 0.5 },
    figures: [{ name: 'relay', text: '40000 a second' }],
    notes: ['Two cores only.'],
  };
  const written = page({
    runs: [run],
    machine: '2 cores',
    versions: 'node 20',
    date: '2026-01-02',
    quick: false,
  });

  it('the benchmark page holds a row for each goal, measured or not', () => {
    expect(written).toContain('| ingest | a relay | at least 0.7 times | 0.50 times | **missed** |');
    expect(written).toContain('| compile | an echo | at most 2.5 times | – | not measured |');
  });

  it('the benchmark page says where and when, and how to repeat it', () => {
    for (const part of ['- 2026-01-02\n', '- 2 cores\n', '- node 20\n', '- Two cores only.', '--check']) {
      expect(written).toContain(part);
    }
  });
});

it('the benchmark page aligns figures', () => {
  expect(
    aligned([
      { name: 'a', text: '1' },
      { name: 'long', text: '2' },
    ]),
  ).toBe('a     1\nlong  2');
});

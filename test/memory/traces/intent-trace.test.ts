import { describe, expect, it } from 'vitest';
import { addEntry } from '../../../src/memory/traces/intent-trace.js';
import { recentLines, summarise } from '../../../src/memory/traces/trace-summary.js';
import { cpuMs } from '../../support/cpu-time.js';
import { runs } from '../../support/tier.js';
import { recordedOf, step, steps, summaryOf, traceOf, used } from './compaction-entries.js';

describe('blocks', () => {
  it.each([
    [19, 0, 0, 19],
    [20, 20, 1, 0],
    [41, 40, 2, 1],
  ])(
    'the blocks of %i entries: %i are compacted, in %i blocks, and %i stay',
    (count, compacted, blocks, recent) => {
      const trace = traceOf(steps(count));
      expect(trace).toMatchObject({ total: count, compacted, blocks });
      expect(recentLines(trace)).toHaveLength(recent);
      const summary = summarise(trace);
      if (blocks === 0) expect(summary).toBeNull();
      else expect(summary).toMatchObject({ entries: compacted, blocks });
    },
  );

  it('a trace summary keeps its bytes between two boundaries, and changes at each', () => {
    const all = steps(100);
    const texts = all.map((_, index) => summarise(traceOf(all.slice(0, index + 1))));
    const distinct = new Map<string | undefined, number[]>();
    for (const [index, summary] of texts.entries()) {
      distinct.set(summary?.text, [...(distinct.get(summary?.text) ?? []), index + 1]);
    }
    expect([...distinct.values()].map((counts) => [counts[0], counts.at(-1), counts.length])).toEqual([
      [1, 19, 19],
      [20, 39, 20],
      [40, 59, 20],
      [60, 79, 20],
      [80, 99, 20],
      [100, 100, 1],
    ]);
  });
});

describe('recent entries', () => {
  it('recent entries stay word for word', () => {
    const trace = traceOf([
      ...steps(20),
      step(21),
      used('r1', 'bash', { command: 'npm test' }, { status: 'FAILURE', error_message: 'exit 1: two tests' }),
      used('r2', 'rm', { file: '/etc/passwd' }, { status: 'DENIED' }),
    ]);
    expect(recentLines(trace)).toEqual([
      '- SUCCESS edit: src/f21.ts | wrote part 21',
      '- FAILURE bash: npm test | exit 1: two tests',
      '- DENIED rm: /etc/passwd',
    ]);
    expect(summaryOf(trace).text).not.toContain('wrote part 21');
  });
});

const COUNT = runs(40_000);

describe(`${COUNT} entries`, () => {
  const LIMIT = 48 * 1024;

  /** All different, and each with an output over the limit. */
  function* many() {
    for (let index = 0; index < COUNT; index += 1) {
      const status = index % 7 === 0 ? 'FAILURE' : 'SUCCESS';
      const output_summary = 'o'.repeat(index % 400);
      yield step(index, {
        payload: {
          tool_name: `tool-${index % 1000}`,
          target_files: [`src/folder-${index}/file-${index}.ts`],
          reasoning: `because of reason ${index}`,
        },
        state: index % 3 === 0 ? 'REASONING' : 'ACTION',
        result: { status, output_summary, error_message: `failed for cause ${index}` },
      });
    }
  }

  it(`${COUNT} entries leave a state below a fixed bound, in reasonable time, and lose no outcome`, () => {
    let trace = traceOf([]);
    let largest = 0;
    let counted = 0;
    const took = cpuMs(() => {
      for (const input of many()) {
        trace = addEntry(trace, recordedOf(input));
        counted += 1;
        if (counted % 997 === 0) largest = Math.max(largest, JSON.stringify(trace).length);
      }
    });
    expect(took).toBeLessThan(runs(30_000));
    expect(largest).toBeGreaterThan(0);
    expect(largest).toBeLessThan(LIMIT);
    expect(trace).toMatchObject({ total: COUNT, compacted: COUNT, blocks: COUNT / 20 });
    const outcomes = trace.tools.reduce((sum, each) => sum + each.success + each.failure + each.denied, 0);
    expect(outcomes).toBe(COUNT);
    expect(summaryOf(trace)).toMatchObject({ entries: COUNT, blocks: COUNT / 20 });
    expect(summaryOf(trace).tokensAfter).toBeLessThanOrEqual(1200);
  });

  it('entries at their largest have a fixed bound too', () => {
    const text = (index: number, length: number) => `${index}`.padEnd(length, 'w');
    const huge = (index: number) =>
      step(index, {
        id: text(index, 128),
        state: 'REASONING',
        action_type: index % 2 === 0 ? 'INTENT_SELECTION' : 'TOOL_EXECUTION',
        payload: {
          tool_name: text(index, 200),
          target_files: Array.from({ length: 30 }, (_, file) => text(index * 100 + file, 1000)),
          command: text(index, 5000),
          reasoning: text(index, 10_000),
        },
        result: {
          status: index % 5 === 0 ? 'DENIED' : 'SUCCESS',
          output_summary: text(index, 5000),
          error_message: text(index, 5000),
        },
      });
    const sizes = [119, 999].map((count) => {
      const trace = traceOf(Array.from({ length: count }, (_, index) => huge(index)));
      return JSON.stringify(trace).length;
    });
    for (const size of sizes) expect(size).toBeLessThan(256 * 1024);
    expect(Math.abs((sizes[1] ?? 0) - (sizes[0] ?? 0))).toBeLessThan(16 * 1024);
  });
});

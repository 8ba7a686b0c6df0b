import { expect, it } from 'vitest';
import { parseTasksMd } from '../../../src/ledger/tasks-md/parse-tasks-md.js';
import { cpuMs } from '../../support/cpu-time.js';
import * as fc from '../../support/properties.js';

const flat = Array.from(
  { length: 5000 },
  (_, at) => `- [${' x-'[at % 3]}] T${at} [P] [US1] Implement part ${at} in \`src/part-${at}.ts\``,
).join('\n');

const nested = Array.from({ length: 1250 }, (_, at) =>
  [
    `- [ ] ${at}. Parent`,
    ...[1, 2, 3].map(
      (sub) => `  - [-] ${at}.${sub} Part\n    - File: src/a.ts\n    - _Requirements: 1.2, 3_`,
    ),
  ].join('\n'),
).join('\n\n');

const long = `- [ ] 1. ${'a [P] _x_ (optional) `b` <!-- ✅ '.repeat(5000)}${' '.repeat(50_000)}.`;

const deep = Array.from(
  { length: 1000 },
  (_, at) => `${' '.repeat(Math.min(at, 300) * 2)}- [ ] ${at}. Deep`,
).join('\n');

function numbers(count: number): string {
  return Array.from({ length: count }, (_, at) => at).join(', ');
}

// The aim is 200 ms for 5,000 tasks; measured are 140 to 170 cold and 60 to 120 warm. The bound is for a busy machine.
it.each([
  ['5,000 tasks in a flat list', flat, 5000],
  ['5,000 tasks in a loose nested list', nested, 5000],
  ['a line of 200,000 characters', long, 1],
  ['300 levels', deep, 1000],
  ['a line with 150,000 dependencies', `- [ ] 1. a\n  - depends on: ${'12, '.repeat(150_000)}`, 1],
  [
    'a line with 50,000 dependencies twice',
    `- [ ] 1. a\n  - depends on: ${numbers(50_000)}\n\n## 1. a\n\n- [ ] 1. a\n  - depends on: ${numbers(50_000)}`,
    2,
  ],
  ['30,000 empty items of an ordered list', '1. \n'.repeat(30_000), 0],
  ['one heading 4,800 times', '### Phase 1: TODO\n'.repeat(4800), 4800],
])('the parser reads %s within a second', (_, text, count) => {
  const elapsed = cpuMs(() => expect(parseTasksMd(text).tasks).toHaveLength(count));
  expect(elapsed).toBeLessThan(1000);
});

/** Beginnings of everything that the parser looks for, and what may make it look again. */
const PIECES = [
  ...['- [ ] ', '- [x] ', '1. ', '1) ', '> ', '# ', '## ✅ ', '### Phase 1: ', '| a | b |', '|---|---|'],
  ...['```', '<!--', '-->'],
  ...['**', '~~', '_Prompt: ', '**Prompt**:', 'Status: ', '_Depends: 1.1_', '(depends on '],
  ...['→ depends on ', '[DONE]', '(COMPLETED)'],
  ...[' — BLOCKED ', '✅', '⚠️ ', 'T001 ', '01-01: ', 'MPC-37/38', '1.1 ', '---', '===', '{', '[', '"'],
  ...['todos:', '  - id: ', '# Task ID: 1'],
  ...[' ', '\t', '    ', 'word ', 'TODO', '(', ')', ']', '：', '任务 ', '\u2028', '* ', '\\', '`', ','],
];

it('the parser takes time in proportion to the text, whatever lines are mixed', () => {
  const piece = fc.constantFrom(...PIECES);
  const line = fc.oneof(
    fc.array(piece, { maxLength: 6 }).map((parts) => parts.join('')),
    fc.tuple(piece, fc.integer({ min: 1, max: 400 })).map(([each, times]) => each.repeat(times)),
  );
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), (lines) => {
      const unit = `${lines.join('\n')}\n`;
      const text = unit.repeat(Math.ceil(60_000 / unit.length));
      // 10 µs a byte are twenty times what is usual: a quadratic step takes a hundred times as long.
      expect(cpuMs(() => parseTasksMd(text)) * 1000).toBeLessThan(10 * Buffer.byteLength(text) + 50_000);
    }),
    { numRuns: 60 },
  );
});

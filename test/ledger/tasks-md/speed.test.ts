import { expect, it } from 'vitest';
import { parseTasksMd } from '../../../src/ledger/tasks-md/parse-tasks-md.js';
import { cpuMs } from '../../support/cpu-time.js';

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

// The aim is 200 ms for 5,000 tasks; measured are 140 to 170 cold and 60 to 120 warm. The bound is for a busy machine.
it.each([
  ['5,000 tasks in a flat list', flat, 5000],
  ['5,000 tasks in a loose nested list', nested, 5000],
  ['a line of 200,000 characters', long, 1],
  ['300 levels', deep, 1000],
])('the parser reads %s within a second', (_, text, count) => {
  const elapsed = cpuMs(() => expect(parseTasksMd(text).tasks).toHaveLength(count));
  expect(elapsed).toBeLessThan(1000);
});

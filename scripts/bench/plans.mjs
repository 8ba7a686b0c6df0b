// Reading plans of 5,000 tasks in several shapes.
import { parseTasksMd } from '../../dist/ledger/tasks-md/parse-tasks-md.js';
import { goalsOf } from './goals.mjs';
import { median } from './stats.mjs';

const TASKS = 5000;
const each = (make) => Array.from({ length: TASKS }, (_, at) => make(at)).join('\n');
const body = (count) =>
  Array.from({ length: count }, (_, at) => `  - Define \`Part${at}\` with its fields`).join('\n');

/** By name; those of 11 lines a task have 55,000 lines. */
const SHAPES = {
  'a flat list': () => each((at) => `- [ ] T${at} [P] [US1] Implement part ${at} in \`src/part-${at}.ts\``),
  'a list of 55,000 lines': () =>
    each((at) => `- [ ] ${at}. Part ${at}\n${body(9)}\n  - _Requirements: 1.2, 3_`),
  'headings, 55,000 lines': () => each((at) => `### T-${at}: Part\n\n- **Status:** done\n${body(7)}\n`),
  'prompts, 55,000 lines': () => each((at) => `- [ ] ${at}. Part\n  - _Prompt: Role\n${body(8)}\n    end_`),
};

export default {
  name: 'plans',
  goals: goalsOf(`
    plans.slowest | a plan of 5,000 tasks, the slowest shape: median | the clock | at most 200 ms
  `),
  run,
};

async function run({ quick, progress }) {
  const figures = [];
  let slowest = 0;
  for (const [name, make] of Object.entries(SHAPES)) {
    progress?.(name);
    const text = make();
    const times = [];
    for (let at = 0; at < (quick ? 3 : 11); at += 1) {
      const begun = performance.now();
      const { tasks } = parseTasksMd(text);
      times.push(performance.now() - begun);
      if (tasks.length !== TASKS) throw new Error(`${name}: ${tasks.length} tasks, not ${TASKS}`);
    }
    const middle = median(times);
    slowest = Math.max(slowest, middle);
    figures.push({ name: `5,000 tasks in ${name}: median`, text: `${middle.toFixed(0)} ms` });
  }
  return { measured: { 'plans.slowest': slowest }, figures, notes: [] };
}

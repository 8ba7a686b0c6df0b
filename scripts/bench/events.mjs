// Events of a made-up session: what an implementer returns, and tasks.

import { RuleBasedFactExtractor } from '../../dist/facts/extractor.js';
import { recordedEvent } from '../../dist/workers/extractor.js';

const rules = new RuleBasedFactExtractor();
const BEGAN = Date.UTC(2026, 0, 1);

/** The event of dispatch `n`: five files, a test, two follow-ups; about 1 KB as a result. */
export function factEvent(n) {
  const at = new Date(BEGAN + n * 1000).toISOString();
  const result = {
    task_id: `${Math.floor(n / 10)}.${n % 10}`,
    status: 'completed',
    summary: `Step ${n}: the reader of module ${n % 97} takes its tail from the log and folds what is newer than its snapshot`,
    files_modified: Array.from({ length: 5 }, (_, i) => `src/module-${(n * 7 + i) % 400}/part-${i}.ts`),
    tests: [
      {
        command: `npx vitest run module-${n % 97}`,
        passed: n % 5 !== 0,
        failures: n % 5 === 0 ? ['expected 2, got 3'] : [],
      },
    ],
    follow_up_actions: [`Document the options of module ${n % 97}`, `Measure module ${n % 97} under load`],
  };
  return recordedEvent({ sequence: n, at }, { role: 'implementer', result }, rules);
}

export function taskEvent(n) {
  return {
    v: 1,
    type: 'task.added',
    at: new Date(BEGAN + n * 1000).toISOString(),
    data: {
      task: `TAS-${n}`,
      content: `Task number ${n}: make the reader of module ${n % 97} wait for the tail it has been promised`,
      status: n % 3 === 0 ? 'completed' : 'remaining',
      priority: n % 5,
      depends_on: n > 2 ? [`TAS-${n - 1}`] : [],
      iteration: Math.floor(n / 20),
    },
  };
}

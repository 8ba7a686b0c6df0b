// Made-up sessions: what implementers return, the events that come of it, and tasks.
import { writeEvent } from '../../dist/contracts/event.js';
import { SESSION_EVENTS } from '../../dist/contracts/session-events.js';
import { RuleBasedFactExtractor } from '../../dist/memory/facts/fact-extractor.js';
import { recordedEvent } from '../../dist/services/extractor/extractor-worker.js';

const rules = new RuleBasedFactExtractor();
const BEGAN = Date.UTC(2026, 0, 1);

/** Result `n`: five files, a test, two follow-ups; about 1 KB as JSON. */
export function resultOf(n) {
  const module = n % 97;
  return {
    task_id: `${Math.floor(n / 10)}.${n % 10}`,
    status: 'completed',
    summary:
      `Step ${n}: the reader of module ${module} takes its tail from the log and folds what is newer than its ` +
      'snapshot; the writer keeps the order of dispatches, and a second worker may take over at any event. What a ' +
      'crash leaves behind is delivered again and counted once, so nothing had to change in the callers of the module',
    files_modified: Array.from(
      { length: 5 },
      (_, i) => `src/packages/module-${(n * 7 + i) % 400}/part-${i}.ts`,
    ),
    tests: [
      {
        command: `npx vitest run packages/module-${module}`,
        passed: n % 5 !== 0,
        failures: n % 5 === 0 ? ['expected 2 events after the snapshot, got 3 (reader.test.ts:41)'] : [],
      },
      { command: `npx tsc -p packages/module-${module}/tsconfig.json`, passed: true },
    ],
    follow_up_actions: [
      `Document the options of module ${module}, with their defaults and what each of them costs`,
      `Measure module ${module} under load, with one worker and with two of them side by side`,
    ],
  };
}

/** Published under an id, as the SDK and the CLI do. */
function deliveryOf(n) {
  return { sequence: n, at: timeOf(n), messageId: `bench:${n}` };
}

/** The event of dispatch `n`. */
export function factEvent(n) {
  const result = { ...resultOf(n), files_changed: undefined };
  return recordedEvent(deliveryOf(n), { role: 'implementer', result }, rules);
}

/** Bytes of an event of a result on average, as its session's log stores it. */
export function eventBytes(count = 100) {
  const sizes = Array.from(
    { length: count },
    (_, n) => writeEvent(SESSION_EVENTS, 'session-10', factEvent(n + 1)).length,
  );
  return Math.round(sizes.reduce((sum, each) => sum + each, 0) / count);
}

/** The event of a dispatch `n` that says little: for sessions with very many. */
export function shortEvent(n) {
  const result = {
    task_id: `${n % 500}`,
    status: 'completed',
    summary: `Step ${n}: measured module ${n % 97} under load`,
    files_modified: [`src/module-${n % 400}.ts`],
  };
  return recordedEvent(deliveryOf(n), { role: 'implementer', result }, rules);
}

export function taskEvent(n) {
  return {
    v: 1,
    type: 'task.added',
    at: timeOf(n),
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

function timeOf(n) {
  return new Date(BEGAN + n * 1000).toISOString();
}

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests that need a server, a built package, or a process of their own: where they count its time, or what it has loaded. */
export const SYSTEM = [
  'test/{e2e,faults,inspector,nats,nats-server,ports,docker,client}/**/*.test.ts',
  'test/cli/**/*.test.ts',
  'test/architecture/expressions.test.ts',
  'test/contracts/{dispatch-body,list-limits,request-fields}.test.ts',
  'test/contracts/reading/{mended-json,read-result}.test.ts',
  'test/docs/site.test.ts',
  'test/learnings/learning-text.test.ts',
  'test/ledger/tasks-md/speed.test.ts',
  'test/redaction/secretlint-scanner.test.ts',
  'test/session/commands/dense-dependencies.test.ts',
  'test/shared/text-time.test.ts',
  'test/tokenizers/load-tokenizer.test.ts',
  'test/traces/intent-trace.test.ts',
];

/** What runs with sessions in shards as well as with a stream each: the way of a result, and what is asked about it. */
export const BOTH_LAYOUTS = [
  'backup',
  'compile',
  'conflicts',
  'ingest',
  'ledger',
  'ledger-compile',
  'lost-answers',
  'once',
  'plan',
  'queries',
  'rejected-results',
  'session-tools',
  'session-tools-wire',
  'trace',
].map((name) => `test/e2e/${name}.test.ts`);

/** A process for each file: a handle that one leaks shows there and nowhere else. */
const PROCESSES = { globalSetup: ['test/support/global-setup.ts'], pool: 'forks' as const };

export default defineConfig({
  test: {
    // Some tests run forty commands, each a process: on a busy machine one of these takes two seconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Longest wait for something that happens in milliseconds on an idle machine; as `soon` of test/support.
    expect: { poll: { timeout: 45_000 } },
    // One more than there are cores: many tests wait for a process, a server or a time, and a core must not wait with them.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        extends: true,
        // Values in, values out: these share a process, and what they import is loaded once.
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: SYSTEM,
          pool: 'threads',
          isolate: false,
        },
      },
      { extends: true, test: { name: 'system', include: SYSTEM, ...PROCESSES } },
      {
        extends: true,
        test: {
          name: 'sharded',
          include: BOTH_LAYOUTS,
          env: { THROUGHLINE_TEST_LAYOUT: 'sharded' },
          ...PROCESSES,
        },
      },
    ],
  },
});

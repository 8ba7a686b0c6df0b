import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';

/**
 * For each file of tests: adds a line to the report of the run, with what the file took and started. Here and not in a
 * reporter, since only the worker knows both; set up before all else, it ends after all else.
 */

const report = process.env.THROUGHLINE_TEST_FILES;
const begun = performance.now();
const cpu = process.cpuUsage();
const started = { server: 0, process: 0 };

const count = (message: unknown) => {
  const { process: child } = message as { process: { spawnfile?: string } };
  // Its program is known only after this.
  queueMicrotask(() => {
    started[child.spawnfile?.includes('nats-server') === true ? 'server' : 'process'] += 1;
  });
};
subscribe('child_process', count);

afterAll(() => {
  unsubscribe('child_process', count);
  if (report === undefined) return;
  const { user, system } = process.cpuUsage(cpu);
  const took = { ms: Math.round(performance.now() - begun), cpuMs: Math.round((user + system) / 1000) };
  const layout = process.env.THROUGHLINE_TEST_LAYOUT;
  const line = { file: expect.getState().testPath, ...(layout && { layout }), ...took, ...started };
  appendFileSync(report, `${JSON.stringify(line)}\n`);
});

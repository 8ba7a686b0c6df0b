import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
import { takeStarted } from './started.js';

/**
 * For each file of tests: adds a line to the report of the run, with what the file took and started. Here and not in a
 * reporter, since only the worker knows both; set up before all else, it ends after all else.
 */

const report = process.env.THROUGHLINE_TEST_FILES;
const begun = performance.now();
const cpu = process.cpuUsage();
takeStarted();

afterAll(() => {
  if (report === undefined) return;
  const { user, system } = process.cpuUsage(cpu);
  const took = { ms: Math.round(performance.now() - begun), cpuMs: Math.round((user + system) / 1000) };
  const line = { file: expect.getState().testPath, ...took, ...takeStarted() };
  appendFileSync(report, `${JSON.stringify(line)}\n`);
});

// Prints the slowest files with what they started, why no server ran in a container, and the closing line: N passed, N failed,
// N skipped. The first argument is
// the report of the test runner, the second what test/support/file-report.ts has written of each file.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const SLOWEST = 10;

const [, , reported, written] = process.argv;
const report = JSON.parse(readFileSync(reported, 'utf8'));
const passed = report.numPassedTests;
// A file that could not even be loaded has no failed test to its name, but it failed.
const unloaded = report.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
);
for (const file of unloaded) console.error(`could not be loaded: ${file.name}`);
const failed = report.numFailedTests + unloaded.length;
const skipped = report.numPendingTests + report.numTodoTests;

const lines = written !== undefined && existsSync(written) ? readFileSync(written, 'utf8') : '';
const told = lines
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));
const files = told
  .filter(({ file }) => file !== undefined)
  .sort((one, other) => other.ms - one.ms)
  .slice(0, SLOWEST);
if (files.length > 0) console.log('== slowest files');
for (const { file, ms, cpuMs, server, process: started } of files) {
  const what = [counted(server, 'server', 'servers'), counted(started, 'process', 'processes')]
    .filter((text) => text !== '')
    .join(', ');
  const name = relative(process.cwd(), file);
  const time = `${seconds(ms)} (${seconds(cpuMs)} of its process)`;
  console.log(`${time.padStart(32)}  ${name}: started ${what || 'nothing'}`);
}
const why = told.find(({ noContainer }) => noContainer !== undefined)?.noContainer;
if (why !== undefined) console.log(`== testcontainers not used, servers ran as processes: ${why}`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 && passed > 0 && report.success ? 0 : 1;

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

function counted(count, one, many) {
  return count === 0 ? '' : `${count} ${count === 1 ? one : many}`;
}

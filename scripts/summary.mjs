// Prints the closing line from the runner's own report: N passed, N failed, N skipped.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const passed = report.numPassedTests;
// A file that could not even be loaded has no failed test to its name, but it failed.
const unloaded = report.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
);
for (const file of unloaded) console.error(`could not be loaded: ${file.name}`);
const failed = report.numFailedTests + unloaded.length;
const skipped = report.numPendingTests + report.numTodoTests;
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 && passed > 0 && report.success ? 0 : 1;

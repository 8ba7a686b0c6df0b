import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import config from '../../vitest.config.js';
import { folderOfTest } from '../support/of-file.js';
import { TIER } from '../support/tier.js';
import { DEFAULT_SYSTEM, isSystem, NAMED, TESTS, tierOf } from '../tiers.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

it('every file of tests that the tier holds runs in exactly one of the projects', () => {
  const projects = config.test?.projects ?? [];
  const included = projects.map((project) => {
    if (typeof project !== 'object' || !('test' in project)) throw new Error('a project without tests');
    return project.test?.include ?? [];
  });
  const held = TESTS.filter((path) => TIER === 'all' || tierOf(path) === TIER);
  expect(included.flat().sort()).toEqual(held);
  expect(TESTS.length).toBeGreaterThan(300);
});

it('the tiers name no test that is not there, and none twice', () => {
  expect(NAMED.filter((path) => !existsSync(ROOT + path))).toEqual([]);
  const listed = DEFAULT_SYSTEM.flatMap(({ tests }) => tests);
  expect(listed.filter((path, index) => listed.indexOf(path) !== index)).toEqual([]);
  expect(listed.filter((path) => !isSystem(path))).toEqual([]);
});

it('the default tier holds the unit tests but one, and a part of the tests of the system', () => {
  expect(TESTS.filter((path) => !isSystem(path) && tierOf(path) !== 'default')).toEqual([
    'test/architecture/expressions.test.ts',
  ]);
  const system = TESTS.filter(isSystem);
  expect(system.filter((path) => tierOf(path) === 'default').length).toBeLessThan(system.length / 2);
});

it('the summary of a run says why no server ran in a container', async () => {
  const folder = await folderOfTest();
  const [report, files] = [join(folder, 'report.json'), join(folder, 'files.jsonl')];
  const counts = { numPassedTests: 2, numFailedTests: 0, numPendingTests: 1, numTodoTests: 0 };
  writeFileSync(report, JSON.stringify({ ...counts, success: true, testResults: [] }));
  const summary = (...lines: object[]) => {
    writeFileSync(files, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const script = join(ROOT, 'scripts/summary.mjs');
    return execFileSync(process.execPath, [script, report, files], { encoding: 'utf8' });
  };
  const ran = { file: '/a.test.ts', ms: 1, cpuMs: 1, server: 1, process: 0 };
  expect(summary(ran, { noContainer: 'no engine answers' })).toMatch(
    /started 1 server\n== testcontainers not used, servers ran as processes: no engine answers\n2 passed, 0 failed, 1 skipped\n$/,
  );
  expect(summary(ran)).not.toContain('testcontainers');
});

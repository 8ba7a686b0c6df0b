// Prints the tests that the files which differ from main have to do with, one path in each line: those that import one of
// them, as the test runner finds out, and the tests of the system in the folders touched. A folder of src without such
// tests of its own shows in the whole system: then those of the default tier.
import { execFileSync } from 'node:child_process';
import { relative } from 'node:path';

const run = (command, ...args) =>
  execFileSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] });
const lines = (text) => text.split('\n').filter((line) => line !== '');

/** Paths of the tests that the runner lists for these arguments, in this tier. */
function listed(tier, ...args) {
  process.env.THROUGHLINE_TEST_TIER = tier;
  const list = run('npx', '--no-install', 'vitest', 'list', '--filesOnly', '--json', ...args);
  return JSON.parse(list || '[]').map(({ file }) => relative(process.cwd(), file));
}

const base = run('git', 'merge-base', 'main', 'HEAD').trim();
const changed = [
  ...lines(run('git', 'diff', '--name-only', base)),
  ...lines(run('git', 'ls-files', '--others', '--exclude-standard')),
];

/** Folders whose tests of the system are in another one. */
const ELSEWHERE = { nats: ['nats', 'ports'], page: ['inspector'] };
const folders = [...new Set(changed.map((path) => /^(?:src|test)\/([^/]+)\//.exec(path)?.[1]))].filter(
  Boolean,
);
const chosen = new Set();
if (changed.length > 0) {
  for (const path of listed('all', '--changed', 'main')) chosen.add(path);
  const system = listed('all', '--project', 'system');
  for (const folder of folders) {
    const places = ELSEWHERE[folder] ?? [folder];
    const own = system.filter((path) => places.some((place) => path.startsWith(`test/${place}/`)));
    const isSource = changed.some((path) => path.startsWith(`src/${folder}/`));
    const shown = own.length > 0 || !isSource ? own : listed('default', '--project', 'system');
    for (const path of shown) chosen.add(path);
  }
}
console.log([...chosen].sort().join('\n'));

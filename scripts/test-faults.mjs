// The fault suite: npm run test:faults -- [name…] [--long] [--seed N] [--rounds N] [--minutes N] [--rate N]
// Without --long it is the quick version that also runs with all other tests. A failure prints how to run it again.
import { spawnSync } from 'node:child_process';
import { optionsOrExit } from './options.mjs';

const { values, positionals } = optionsOrExit('test:faults', {
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    seed: { type: 'string' },
    rounds: { type: 'string' },
    minutes: { type: 'string' },
    rate: { type: 'string' },
  },
});
const env = { ...process.env };
if (values.long) env.FAULTS_LONG = '1';
for (const name of ['seed', 'rounds', 'minutes', 'rate']) {
  const value = values[name];
  if (value === undefined) continue;
  if (!(Number(value) > 0)) {
    console.error(`--${name} is ${JSON.stringify(value)}: use a number above 0`);
    process.exit(2);
  }
  env[`FAULTS_${name.toUpperCase()}`] = value;
}
const files = positionals.length > 0 ? positionals.map((name) => `test/faults/${name}`) : ['test/faults'];
const { status } = spawnSync('npx', ['--no-install', 'vitest', 'run', ...files], { env, stdio: 'inherit' });
process.exit(status ?? 1);

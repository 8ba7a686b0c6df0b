import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { cliProcess } from '../support/cli.js';
import { startSystem } from '../support/system.js';

/** From different results of the recorded session. */
const EXPECTED = [
  'required fix: Bound the wait of prompt.compile for `after` by a deadline',
  'critical, src/workers/prompt-compiler.ts: No deadline: compile waits',
  'src/prompt/stable-prefix.ts',
  'Never treat a sequence as dense: read() derives the count of missed events from seq - after',
  'SessionLog.watch wakes a compile wait',
];

const stores = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('throughline-demo-'));

it('the demo prints a prompt with facts of many results, from a temporary server that it removes', async () => {
  const before = await stores();
  const { code, stdout, stderr } = await cliProcess(['demo']);
  expect(code, stderr).toBe(0);
  for (const words of EXPECTED) expect(stdout).toContain(words);
  expect(stderr).toMatch(/^-- 33 results published to the session recorded/m);
  expect((await stores()).filter((name) => !before.includes(name))).toEqual([]);
});

it('the demo on a server that is named gives the same prompt again: its results count once', async () => {
  await using system = await startSystem();
  const demo = () => cliProcess(['demo', '--session', 'tour', '--nats', system.url]);
  const first = await demo();
  expect(first.code, first.stderr).toBe(0);
  expect((await demo()).stdout).toBe(first.stdout);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { BIN, cleanEnv, cliProcess } from '../support/cli.js';
import { soon } from '../support/soon.js';
import { startSystem } from '../support/system.js';

const stores = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('throughline-demo-'));

it('the demo shows a fault that comes again without a memory and not with one, from a temporary server that it removes', async () => {
  const before = await stores();
  const { code, stdout, stderr } = await cliProcess(['demo']);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/4\.35 \* 100 = 434\.9+4, and its test fails: the same fault again/);
  expect(stdout).toMatch(/\n {2}> - prices: in whole cents, since sums of floats are wrong \[M1, .*\]\n/);
  expect(stdout).toContain('(435 * 100) / 100 = 435, and its test passes');
  expect(stdout).toMatch(/\n {4}\[Memory of shop, .*\]\n {2}> Decided: prices: in whole cents/);
  expect(stdout.split('\n').length).toBeLessThan(35);
  expect(stderr).toMatch(/^-- next: .*throughline connect claude/m);
  expect((await stores()).filter((name) => !before.includes(name))).toEqual([]);
});

it('the demo that is interrupted while its server starts prints nothing of the story and leaves nothing', async () => {
  const before = await stores();
  const demo = spawn(process.execPath, [BIN, 'demo'], {
    env: cleanEnv(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(demo, 'exit');
  await soon(async () => expect((await stores()).length).toBeGreaterThan(before.length));
  demo.kill('SIGINT');
  expect(await text(demo.stdout)).toBe('');
  expect(await ended).toEqual([130, null]);
  expect((await stores()).filter((name) => !before.includes(name))).toEqual([]);
});

it('the demo on a server that is named gives the same story again: its results count once', async () => {
  await using system = await startSystem();
  const demo = async () => {
    const { code, stdout, stderr } = await cliProcess(['demo', '--nats', system.url]);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  expect(await demo()).toMatch(/Day 3.*Last: Price of an order given/s);
  // From the second time on, the second agent has done its task before.
  expect(await demo()).toBe(await demo());
  const { stdout } = await cliProcess(['demo', '--nats', system.url, '--json']);
  expect(JSON.parse(stdout).start).toContain('Decided: prices: in whole cents');
});

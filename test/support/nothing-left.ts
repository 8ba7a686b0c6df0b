import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect } from 'vitest';

/** For each file of tests that has a process of its own: it fails when it leaves a connection or a listener open. */

const OPEN = /^(TCPSocketWrap|TCPServerWrap|TCPConnectWrap|PipeServerWrap)$/;

/** On a busy machine the other side may take its time to close. */
const CLOSED_MS = 10_000;

const before = open();
afterAll(async () => {
  const until = Date.now() + CLOSED_MS;
  while (open().length > before.length && Date.now() < until) await delay(20);
  expect(open().length, `left open: ${open()}`).toBeLessThanOrEqual(before.length);
});

/** What is open and keeps this process alive, by its kind. */
function open(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => OPEN.test(kind));
}

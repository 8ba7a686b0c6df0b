import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { sharedServers } from './nats-server.js';

/**
 * For each file of tests that shares its process with others: it fails when it leaves a connection, a listener or a process
 * open, listens for a signal, or has changed the directory. What it stubbed is put back.
 */

const OPEN = /^(TCPSocketWrap|TCPServerWrap|TCPConnectWrap|PipeServerWrap|ProcessWrap)$/;
const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection'];

/** On a busy machine the other side may take its time to close. */
const CLOSED_MS = 10_000;

const opened = () => open().length - sharedServers();
const listeners = () => EVENTS.map((event) => ({ event, count: process.listenerCount(event) }));

const before = { opened: opened(), directory: process.cwd(), listeners: listeners() };
beforeAll(() => {
  // A library that is imported may listen for good.
  before.listeners = listeners();
});
afterAll(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  const until = Date.now() + CLOSED_MS;
  while (opened() > before.opened && Date.now() < until) await delay(20);
  expect(opened(), `left open: ${open()}`).toBeLessThanOrEqual(before.opened);
  // A browser that the file has started before, and ended since, listened as well.
  const more = listeners().filter(({ count }, index) => count > (before.listeners[index]?.count ?? 0));
  expect(more).toEqual([]);
  expect(process.cwd()).toBe(before.directory);
});

function open(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => OPEN.test(kind));
}

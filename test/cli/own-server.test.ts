import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type OwnServer, startOwnServer } from '../../src/cli/own-server.js';
import type { RunningServer } from '../../src/nats/server/server-process.js';
import { folderOfTest } from '../support/of-file.js';
import { soon } from '../support/soon.js';

const SOON = 1;

let own: OwnServer;
let starts: number;
let failures: Error[];
let said: string[];
beforeEach(async () => {
  starts = 0;
  failures = [];
  said = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  own = await startOwnServer(
    async () => {
      starts += 1;
      return fakeServer();
    },
    (error) => failures.push(error),
  );
});
afterEach(async () => {
  const before = [...failures];
  await own.stop();
  vi.restoreAllMocks();
  expect(before).toEqual([]);
});

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function fakeServer(): RunningServer {
  const exited = deferred<{ code: number | null; signal: NodeJS.Signals | null }>();
  const end = async () => exited.resolve({ code: 0, signal: null });
  return {
    url: 'nats://127.0.0.1:1',
    port: 1,
    pid: 1,
    storeDir: '/nowhere',
    logFile: '/nowhere/nats-server.log',
    exited: exited.promise,
    announce() {},
    // As of a process: it ends before `stop` resolves.
    stop: end,
    kill: end,
  };
}

/** Answers as the list says, then that no stream is stuck; counts the questions, and those asked at once. */
function questions(answers: (boolean | Error)[]) {
  const asked = { count: 0, open: 0, most: 0 };
  const ask = async () => {
    asked.count += 1;
    asked.open += 1;
    asked.most = Math.max(asked.most, asked.open);
    await new Promise((resolve) => setImmediate(resolve));
    asked.open -= 1;
    const answer = answers.shift() ?? false;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, ask };
}

it('a server is asked again and again, one question at a time, and left alone while it can write', async () => {
  const { asked, ask } = questions([]);
  own.watchDisk(ask, SOON);
  await soon(() => expect(asked.count).toBeGreaterThan(5));
  expect(asked.most).toBe(1);
  expect(starts).toBe(1);
  expect(said).toEqual([]);
});

it('a server with a stream that cannot write is started again', async () => {
  own.watchDisk(questions([false, false, true]).ask, SOON);
  await soon(() => expect(starts).toBe(2));
  expect(said.join('')).toMatch(/a stream stores nothing .* restarting the NATS server/);
});

it('a server that cannot be asked is asked again', async () => {
  const { asked, ask } = questions([new Error('no answer'), new Error('no answer'), false]);
  own.watchDisk(ask, SOON);
  await soon(() => expect(asked.count).toBeGreaterThan(5));
  expect(starts).toBe(1);
});

it('nothing is started again once watching has ended, whatever is answered then', async () => {
  const asked = deferred<void>();
  const answer = deferred<boolean>();
  own.watchDisk(() => {
    asked.resolve();
    return answer.promise;
  }, SOON);
  await asked.promise;
  own.stopWatching();
  answer.resolve(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(starts).toBe(1);
});

it('a store that is deleted under the server ends it with the reason', async () => {
  const storeDir = await folderOfTest();
  mkdirSync(join(storeDir, 'jetstream'));
  const failed: Error[] = [];
  const ownServer = await startOwnServer(
    async () => ({ ...fakeServer(), storeDir }),
    (error) => failed.push(error),
  );
  rmSync(storeDir, { recursive: true });
  await soon(() => expect(failed).toHaveLength(1));
  expect(failed[0]?.message).toMatch(/^the store .* was deleted while its server ran: /);
  await ownServer.stop();
});

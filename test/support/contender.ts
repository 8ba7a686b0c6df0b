import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process of its own that takes the lock of a store when it is told to. */
export interface Contender {
  readonly pid: number;
  /** Tries at a time, in milliseconds since 1970: `locked`, or the error's code and the process that it names. */
  lock(storeDir: string, at: number): Promise<string>;
  release(): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

const MODULE = new URL('../../dist/nats/server/server-store.js', import.meta.url).href;
const PROGRAM = `
  const { lockStore } = await import(${JSON.stringify(MODULE)});
  let lock;
  process.on('message', async ({ storeDir, at }) => {
    if (storeDir === undefined) { lock.release(); process.send('released'); return; }
    while (Date.now() < at);
    try { lock = await lockStore(storeDir); process.send('locked'); }
    catch (error) { process.send(error.code + ' ' + error.details?.use?.starter?.pid); }
  });
  process.send('ready');
`;

export async function startContender(): Promise<Contender> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const answer = async () => String((await once(child, 'message'))[0]);
  const exited = once(child, 'exit');
  await answer();
  const ask = (message: object) => {
    const answered = answer();
    child.send(message);
    return answered;
  };
  return {
    pid: child.pid ?? -1,
    lock: (storeDir, at) => ask({ storeDir, at }),
    async release() {
      await ask({});
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

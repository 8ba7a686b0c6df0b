import { createInterface } from 'node:readline/promises';
import { orphanOn, stopOrphan } from '../nats-server/orphaned-server.js';
import { note } from './command-context.js';
import { Interrupted } from './interrupted.js';

/**
 * Stops the server that an `up` which was killed left on a store: with `yes`, or when the person at the terminal says
 * so. Otherwise it stays, and whatever starts a server there says what to do.
 */
export async function offerToStopOrphan(storeDir: string, yes: boolean): Promise<void> {
  const orphan = await orphanOn(storeDir);
  if (orphan === undefined) return;
  const { host, port, pid } = orphan;
  const what = `the nats-server at ${host}:${port}, process ${pid}, was left on ${storeDir} by a process that was killed`;
  if (!yes && !(await agreed(`${what}. Stop it and continue? [y/N] `))) return;
  await stopOrphan(orphan);
  note(`-- ${what}; it has been stopped`);
}

async function agreed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  // Not as a terminal: Ctrl-C stays a signal, by which the whole command ends.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ended = new AbortController();
  const onSignal = () => ended.abort();
  process.once('SIGINT', onSignal);
  lines.once('close', onSignal);
  try {
    return /^\s*y(es)?\s*$/i.test(await lines.question(question, { signal: ended.signal }));
  } catch {
    throw new Interrupted(130);
  } finally {
    process.off('SIGINT', onSignal);
    lines.close();
  }
}

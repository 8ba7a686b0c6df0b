import { createInterface } from 'node:readline/promises';
import { Interrupted } from './interrupted.js';

/** Whether there is a person to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Whether the person at the terminal says yes; without a terminal no one does. */
export async function agreed(question: string): Promise<boolean> {
  if (!canAsk()) return false;
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

import { orphanOn, stopOrphan } from '../nats-server/orphaned-server.js';
import { agreed } from './agreed.js';
import { note } from './command-context.js';

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

import { subscribe } from 'node:diagnostics_channel';

/** Things that take a test longer to start than to use. */
export type Started = 'server' | 'process';

const counts: Record<Started, number> = { server: 0, process: 0 };

/**
 * Counts a start by the test file that runs in this worker. Processes of this machine are counted without a call, a
 * nats-server among them as a server: only what runs elsewhere, as in a container, has to be told.
 */
export function started(kind: Started): void {
  counts[kind] += 1;
}

export function takeStarted(): Record<Started, number> {
  const taken = { ...counts };
  Object.assign(counts, { server: 0, process: 0 });
  return taken;
}

subscribe('child_process', (message) => {
  const { process: child } = message as { process: { spawnfile?: string } };
  // Its program is known only after this.
  queueMicrotask(() => started(child.spawnfile?.includes('nats-server') === true ? 'server' : 'process'));
});

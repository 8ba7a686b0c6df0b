import { randomUUID } from 'node:crypto';
import { createCommander } from '../../src/engine/folding/commander.js';
import {
  createSessionReader,
  createSnapshotWriter,
  type SessionReader,
} from '../../src/engine/folding/session-folding.js';
import { type Clock, silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import type { SessionLog } from '../../src/engine/ports/session-log.js';
import { systemClock } from '../../src/engine/runtime/pacing.js';
import { DEFAULT_LIMITS } from '../../src/memory/session/session-state.js';
import { type CallTool, callingSession } from './calling.js';
import type { System } from './system.js';

export type Append = SessionLog['append'];
interface Between {
  readonly append: Append;
  readonly read?: SessionLog['read'];
  readonly clock?: Clock;
}

/** The tools on a system's log, of which a test gets between the tools and the network; and their reader. */
export function workersOn(
  { ports }: Pick<System, 'ports'>,
  { clock = systemClock, ...between }: Between,
): { tools: CallTool; reader: SessionReader } {
  const { snapshots, log: real } = ports;
  const log: SessionLog = {
    read: (session, range) => real.read(session, range),
    newest: (session) => real.newest(session),
    watch: (session, onEvent) => real.watch(session, onEvent),
    ...between,
  };
  const reader = createSessionReader({
    log,
    snapshots,
    limits: DEFAULT_LIMITS,
    logger: silentLogger,
    maxCached: 9,
  });
  const writer = createSnapshotWriter({ snapshots, clock: systemClock, logger: silentLogger, every: 1000 });
  const command = createCommander({ log, reader, clock, newId: randomUUID, random: () => 0 });
  return { tools: callingSession({ command, reader, writer }), reader };
}

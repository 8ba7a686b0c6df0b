import type { DispatchFault } from '../../contracts/dispatch-body.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import { copyLog, isSameSession } from '../../engine/folding/log-copy.js';
import { foldedLog, keptState, wholeLog } from '../../engine/folding/whole-log.js';
import { type Clock, type Logger, silentLogger, systemClock } from '../../engine/ports/clients.js';
import type { ReplacingSnapshotStore, SessionLog } from '../../engine/ports/session-log.js';
import { archivedText } from '../../memory/session/charter.js';
import { encodeSnapshot } from '../../memory/session/session-snapshot.js';
import type { LayoutLogs } from '../../nats/backup/layout-logs.js';

/**
 * Copies the logs of all sessions to the streams of another layout, then removes the old streams. Part of a restore, before
 * services can start; an interrupted one is repeated from the backup.
 *
 * @param onProgress called after each session
 * @throws ThroughlineError `internal` if a copy differs; nothing is removed then
 */
export async function changeLayout(
  logs: LayoutLogs,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const { from, to, snapshots } = logs;
  const sessions = await from.sessions();
  for (const [index, session] of sessions.entries()) {
    await copySession(session, { from, to, snapshots, clock: systemClock, logger: silentLogger });
    onProgress(index + 1, sessions.length);
  }
  await logs.removeOld();
}

interface CopySessionPorts {
  readonly from: Pick<SessionLog, 'read'>;
  readonly to: Pick<SessionLog, 'read' | 'append'>;
  readonly snapshots: ReplacingSnapshotStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Copies one session, verifies the copy, and rewrites its snapshot with the new sequences if it had one. */
async function copySession(session: Token, ports: CopySessionPorts): Promise<void> {
  const { to, snapshots, clock } = ports;
  const from = await wholeLog({ ...ports, log: ports.from }, session);
  const copied = await copyLog({ from, to }, session);
  if (copied.outcome === 'differs' || !(await isSameSession({ from, to }, session)))
    throw new ThroughlineError(
      'internal',
      `session ${session} is not the same in its copy: nothing was removed`,
    );
  const kept = await keptState(ports, session);
  if (kept === undefined) return;
  const state = await foldedLog(to, session, kept.limits);
  if (state.sequence > 0)
    await snapshots.replace(session, { sequence: state.sequence, text: encodeSnapshot(state, clock()) });
}

export function archivedResult(session: Token, archived: Archived): DispatchFault {
  return {
    code: 'session_archived',
    reason: archivedText(session, archived),
    fix: `reopen it with "throughline session reopen ${session}" and retry this result, or publish to another session`,
  };
}

/** Refuses any other addition to an archived session. */
export function archivedFault(session: Token, archived: Archived): ThroughlineError {
  const fix = `reopen it first with "throughline session reopen ${session}"`;
  return new ThroughlineError('session_archived', `${archivedText(session, archived)}: ${fix}`);
}

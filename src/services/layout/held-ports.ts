import type { SessionActivity } from '../../ports/session-activity.js';
import type { SessionLog } from '../../ports/session-log.js';
import type { ReplacingSnapshotStore } from '../../ports/snapshot-store.js';

/** What a move writes to, as long as it is the only one: a process that stood still may not be. */
type Claimed = () => Promise<void> | undefined;

type Log = Pick<SessionLog, 'read' | 'append'> & Pick<SessionActivity, 'newest'>;

/** A log that takes an event only where `claimed` lets it. */
export function heldLog(log: Log, claimed: Claimed): Log {
  return {
    read: (session, range) => log.read(session, range),
    newest: (session) => log.newest(session),
    append(session, event, options) {
      const claiming = claimed();
      if (claiming === undefined) return log.append(session, event, options);
      return claiming.then(() => log.append(session, event, options));
    },
  };
}

/** Snapshots that are replaced only where `claimed` lets them. */
export function heldSnapshots(snapshots: ReplacingSnapshotStore, claimed: Claimed): ReplacingSnapshotStore {
  return {
    load: (session) => snapshots.load(session),
    loadAtOrBefore: (session, sequence) => snapshots.loadAtOrBefore(session, sequence),
    save: (session, snapshot) => snapshots.save(session, snapshot),
    async replace(session, snapshot) {
      await claimed();
      return snapshots.replace(session, snapshot);
    },
  };
}

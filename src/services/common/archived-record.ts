import type { Archived, Forgotten } from '../../contracts/lifecycle-record.js';
import type { DecideArchived } from '../../engine/ports/session-lifecycle.js';

/** Decisions for `SessionLifecycle.change`. A record of an import in progress is changed only by that import. */

export type OwnsRecord = (there: Archived | undefined) => boolean;

type Archiving = Pick<Archived, 'at' | 'reason' | 'idle_since'>;

/** Archives a session whose log must still be compacted. A record of the same archiving stays. */
export function archiving(archiving: Archiving): DecideArchived {
  return (there) => {
    if (there?.importing !== undefined || there?.at === archiving.at) return 'keep';
    return { ...archiving, pending: true };
  };
}

/** Restores a lost record of an archived session. */
export function archivedAgain(archiving: Archiving): DecideArchived {
  return (there) => (there === undefined ? { ...archiving, pending: true } : 'keep');
}

/** Marks the log as replaced by its checkpoint. */
export function archivingDone(at: string): DecideArchived {
  return (there) => {
    if (there?.at !== at || there.pending === undefined) return 'keep';
    const { v: _, status: __, pending: ___, ...fields } = there;
    return fields;
  };
}

export const reopened: DecideArchived = (there) => (there?.importing === undefined ? 'remove' : 'keep');

/** Ends an import: the name becomes a session, archived or not. */
export function importDone(ownsRecord: OwnsRecord, archiving: Archiving | undefined): DecideArchived {
  return (there) => {
    if (!ownsRecord(there)) return 'keep';
    return archiving === undefined ? 'remove' : { ...archiving, pending: true };
  };
}

/** Ends an import: the name is free again. */
export function releaseName(ownsRecord: OwnsRecord): DecideArchived {
  return (there) => (ownsRecord(there) ? 'remove' : 'keep');
}

/** Marks an import as ready for events: all processes know that the name is reserved, and nothing is stored under it. */
export function importReady(ownsRecord: OwnsRecord): DecideArchived {
  return (there) => {
    if (there?.importing === undefined || !ownsRecord(there)) return 'keep';
    const { v: _, status: __, ...fields } = there;
    return { ...fields, importing: { ...there.importing, ready: true } };
  };
}

/**
 * Returns the time to record for an archived session. The event of an imported file may be older than the tombstone of the
 * name: with that time it would belong to the forgotten session.
 *
 * @param before the tombstone at the time when the events were read
 */
export function archivedSince(before: Forgotten | undefined, at: string): string {
  if (before === undefined || at > before.at) return at;
  return new Date(Date.parse(before.at) + 1).toISOString();
}

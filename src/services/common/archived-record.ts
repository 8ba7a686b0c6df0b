import type { Archived, Forgotten } from '../../contracts/lifecycle-record.js';
import type { ArchivedAs, DecideArchived } from '../../engine/ports/session-lifecycle.js';

/**
 * What may come of the record of a session: the decisions that `SessionLifecycle.change` takes, each of what is recorded at
 * that moment. A name that is being filled is left to the import that does that.
 */

/** Says if a record is that of the import that asks. */
export type IsMine = (there: Archived | undefined) => boolean;

/** When and why a session was archived, and when it had moved last, where a rule of retention did it. */
type Archiving = Pick<Archived, 'at' | 'reason' | 'idle_since'>;

/** It is archived, and its log still has to give way. What was recorded of the same archiving stays. */
export function asArchived(archiving: Archiving): DecideArchived {
  return (there) => {
    if (!isWhole(there) || there?.at === archiving.at) return 'keep';
    return { ...archiving, pending: true };
  };
}

/** It is archived, unless anything is recorded of it. */
export function asArchivedAgain(archiving: Archiving): DecideArchived {
  return (there) => (there === undefined ? { ...archiving, pending: true } : 'keep');
}

/** Its log has given way to its checkpoint. */
export function asSettled(at: string): DecideArchived {
  return (there) => {
    if (there?.at !== at || there.pending === undefined) return 'keep';
    const { pending: _, ...fields } = fieldsOf(there);
    return fields;
  };
}

/** It is not archived any longer. */
export const asReopened: DecideArchived = (there) => (isWhole(there) ? 'remove' : 'keep');

/** It becomes a session, archived or not. */
export function asSession(isMine: IsMine, archiving: Archiving | undefined): DecideArchived {
  return (there) => {
    if (!isMine(there)) return 'keep';
    return archiving === undefined ? 'remove' : { ...archiving, pending: true };
  };
}

/** The name is free again. */
export function asFree(isMine: IsMine): DecideArchived {
  return (there) => (isMine(there) ? 'remove' : 'keep');
}

/** All processes know that the name is taken, and nothing is under it: it may be filled. */
export function asReady(isMine: IsMine): DecideArchived {
  return (there) => {
    if (there?.importing === undefined || !isMine(there)) return 'keep';
    return { ...fieldsOf(there), importing: { ...there.importing, ready: true } };
  };
}

/** True if all of the session is there: it is not being imported. */
export function isWhole(record: Archived | undefined): boolean {
  return record?.importing === undefined;
}

/** What is recorded, as it is given to record it. */
export function fieldsOf({ v: _, status: __, ...fields }: Archived): ArchivedAs {
  return fields;
}

/**
 * The time to record of an archived session. Its event may be older than a session of the name that was forgotten, as one of a
 * file is: recorded by that time it would pass for what is left of that session.
 *
 * @param before what was recorded of the name before its events were read
 */
export function archivedSince(before: Forgotten | undefined, at: string): string {
  if (before === undefined || at > before.at) return at;
  return new Date(Date.parse(before.at) + 1).toISOString();
}

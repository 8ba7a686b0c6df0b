import { isDeepStrictEqual } from 'node:util';
import type { Archived, Forgotten } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { ArchivedAs, DecideArchived } from '../../ports/session-lifecycle.js';

/**
 * What may come of the record of a session: the decisions that `SessionLifecycle.change` takes, each of what is recorded at
 * that moment. A name that is a pointer, or is being filled, is left to the rename or import that does that.
 */

/** Whether a record is that of the rename, or import, that asks. */
export type IsMine = (there: Archived | undefined) => boolean;

/** When and why a session was archived, and when it had moved last, where a rule of retention did it. */
export type Archiving = Pick<Archived, 'at' | 'reason' | 'idle_since'>;

/** It is archived. What was recorded of the same archiving stays. */
export function asArchived(archiving: Archiving): DecideArchived {
  return (there) => (hasOwnName(there) ? archivedAs(there, archiving) : 'keep');
}

/** It is archived, unless anything is recorded of it. */
export function asArchivedAgain(archiving: Archiving): DecideArchived {
  return (there) => (there === undefined ? archivedAs(there, archiving) : 'keep');
}

/** It is not archived any longer. */
export const asReopened: DecideArchived = (there) => (hasOwnName(there) ? 'remove' : 'keep');

/** It becomes a session, archived or not. */
export function asSession(isMine: IsMine, archiving: Archiving | undefined): DecideArchived {
  return (there) => {
    if (!isMine(there)) return 'keep';
    return archiving === undefined ? 'remove' : archivedAs(there, archiving);
  };
}

/** The name is free again. */
export function asFree(isMine: IsMine): DecideArchived {
  return (there) => (isMine(there) ? 'remove' : 'keep');
}

/**
 * The name is taken for a rename.
 *
 * @param at when, where nothing is recorded of the name
 * @param left what a rename that is lost has recorded of it, if it has; where that is another record by now, another rename
 * was faster
 */
export function asTaken(from: Token, at: string, left: Archived | undefined): DecideArchived {
  const importing = { file: `rename ${from}`.slice(0, 64), dispatches: 0, ready: false, from };
  return (there) => {
    if (there === undefined) return { at, importing };
    if (there.importing?.from === from) return fieldsOf(there);
    if (left === undefined || !isDeepStrictEqual(there, left)) return 'keep';
    const { ready = false, left_over = false } = left.importing ?? {};
    return { at: there.at, importing: { ...importing, ...((ready || left_over) && { left_over: true }) } };
  };
}

/** All processes know that the name is taken, and nothing is under it: it may be filled. */
export function asReady(isMine: IsMine): DecideArchived {
  return (there) => {
    if (there?.importing === undefined || !isMine(there)) return 'keep';
    const { left_over: _, ...importing } = there.importing;
    return { ...fieldsOf(there), importing: { ...importing, ready: true } };
  };
}

/** Whether a record is of the session that has the name: it is not a pointer, and all of it is there. */
export function hasOwnName(record: Archived | undefined): boolean {
  return record?.renamed_to === undefined && record?.importing === undefined;
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

function archivedAs(there: Archived | undefined, { at, reason, idle_since: given }: Archiving): ArchivedAs {
  const idle = given ?? (there?.at === at ? there.idle_since : undefined);
  return { at, ...(reason !== undefined && { reason }), ...(idle !== undefined && { idle_since: idle }) };
}

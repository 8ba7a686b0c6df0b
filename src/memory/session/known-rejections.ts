import { KEPT } from '../../contracts/kept.js';
import { kindOf, ROLES, type Role } from '../../contracts/kinds.js';
import type { DispatchRejected } from '../../contracts/session-events.js';
import type { UnreadableResult } from '../../ledger/ledger-entries.js';
import { dropOldest } from '../../shared/collections.js';
import { clipText } from '../../shared/text.js';

/** A rejected dispatch as the fold keeps it. */
export interface Rejected {
  readonly sequence: number;
  /** Sequence of its session event. */
  readonly event: number;
  readonly role?: Role;
  /** Its task, if that was readable. */
  readonly task?: string;
  /** The reason, the fix, and the role that it seems to belong to. */
  readonly error: {
    readonly code: string;
    readonly reason: string;
    readonly fix?: string;
    readonly meant?: Role;
  };
}

/** A remembered rejection. */
export interface KnownRejection extends Rejected {
  /** A later result of the task and role was readable, so this one need not be returned again. */
  readonly answered?: true;
}

export function rejectedBy({ data }: DispatchRejected, event: number): Rejected {
  const { sequence, role, task } = data.dispatch;
  const { code, reason, fix, meant } = data.error;
  return {
    sequence,
    event,
    ...(role !== undefined && { role }),
    ...(task !== undefined && { task }),
    error: {
      code,
      reason: clipText(reason, KEPT.rejection.text),
      ...(fix !== undefined && { fix: clipText(fix, KEPT.rejection.text) }),
      ...(meant !== undefined && { meant }),
    },
  };
}

/** The newest readable result of a task and role. */
export interface NewestRead {
  readonly task: string;
  readonly role: Role;
  readonly sequence: number;
}

/** By task and role; the least recent are evicted. */
export type NewestReads = Map<string, NewestRead>;

const MAX_READS = 600;

export function newestReads(reads: Iterable<NewestRead>): NewestReads {
  return new Map([...reads].map((read) => [keyOf(read), read]));
}

/**
 * Inserts a rejection in dispatch order and evicts the oldest. One that arrives after its replacement is answered at
 * once.
 */
export function addRejection(known: KnownRejection[], rejected: Rejected, reads: NewestReads): void {
  const { task, sequence } = rejected;
  const isAnswered =
    task !== undefined &&
    rolesThatAnswer(rejected).some((role) => (reads.get(keyOf({ task, role }))?.sequence ?? 0) > sequence);
  const rejection = { ...rejected, ...(isAnswered && { answered: true as const }) };
  const at = known.findLastIndex(({ sequence }) => sequence < rejection.sequence) + 1;
  known.splice(at, 0, rejection);
  if (known.length > KEPT.rejection.list) known.shift();
}

/** Records a readable result, which answers earlier rejections of its task and role. */
export function answerRejections(known: KnownRejection[], reads: NewestReads, read: NewestRead): void {
  const { task, role, sequence } = read;
  const key = keyOf(read);
  const before = reads.get(key);
  reads.delete(key);
  reads.set(key, { task, role, sequence: Math.max(sequence, before?.sequence ?? 0) });
  dropOldest(reads, MAX_READS);
  for (const [index, rejection] of known.entries()) {
    if (rejection.task !== task || rejection.answered === true || rejection.sequence > sequence) continue;
    if (rolesThatAnswer(rejection).includes(role)) known[index] = { ...rejection, answered: true };
  }
}

/** Returns the newest unanswered rejection of a task, or of a role of it. */
export function unreadOf(
  known: readonly KnownRejection[],
  task: string,
  role?: Role,
): KnownRejection | undefined {
  return known.findLast(
    (rejection) =>
      rejection.task === task &&
      rejection.answered !== true &&
      (role === undefined || rejection.role === undefined || rejection.role === role),
  );
}

/** Roles whose results replace an unreadable one; for an unknown role any that works or reviews. */
function rolesThatAnswer({ role, error: { meant } }: Rejected): readonly Role[] {
  if (role === undefined) return ROLES.filter((each) => kindOf(each).part !== 'note');
  return meant === undefined ? [role] : [role, meant];
}

function keyOf({ task, role }: Pick<NewestRead, 'task' | 'role'>): string {
  return `${role} ${task}`;
}

/** Returns the tasks whose last result could not be read. */
export function unreadableTasks(
  known: readonly KnownRejection[],
): (UnreadableResult & { readonly task: string })[] {
  return known.flatMap((rejection) => {
    const { task } = rejection;
    return task !== undefined && unreadOf(known, task) === rejection
      ? [{ task, ...unreadableResult(rejection) }]
      : [];
  });
}

export function unreadableResult({ sequence, role, error }: Rejected): UnreadableResult {
  return { dispatch: sequence, ...(role !== undefined && { role }), ...error };
}

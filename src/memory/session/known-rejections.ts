import { z } from 'zod';
import { KEPT } from '../../contracts/kept.js';
import { kindOf, ROLES, type Role } from '../../contracts/kinds.js';
import type { Output } from '../../contracts/schema-fields.js';
import type { DispatchRejected } from '../../contracts/session-events.js';
import type { UnreadableResult } from '../../ledger/ledger-entries.js';
import { dropOldest } from '../../shared/collections.js';
import { clipText } from '../../shared/text.js';

/** A rejected dispatch as the fold keeps it. */
export const rejected = z.object({
  sequence: z.number(),
  /** Sequence of its session event. */
  event: z.number(),
  role: z.enum(ROLES).exactOptional(),
  /** Its task, if that was readable. */
  task: z.string().exactOptional(),
  error: z.object({
    code: z.string(),
    reason: z.string(),
    fix: z.string().exactOptional(),
    /** The role that it seems to belong to. */
    meant: z.enum(ROLES).exactOptional(),
  }),
});
export type Rejected = Output<typeof rejected>;

/** `answered`: a later result of the task and role was readable, so this one need not be returned again. */
export const knownRejection = rejected.extend({ answered: z.literal(true).exactOptional() });
export type KnownRejection = Output<typeof knownRejection>;

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
export const newestRead = z.object({ task: z.string(), role: z.enum(ROLES), sequence: z.number() });
export type NewestRead = Output<typeof newestRead>;

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
export function addRejection(known: KnownRejection[], one: Rejected, reads: NewestReads): void {
  const { task, sequence } = one;
  const isAnswered =
    task !== undefined &&
    rolesThatAnswer(one).some((role) => (reads.get(keyOf({ task, role }))?.sequence ?? 0) > sequence);
  const rejection = { ...one, ...(isAnswered && { answered: true as const }) };
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

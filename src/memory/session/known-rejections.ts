import { z } from 'zod';
import { KEPT } from '../../contracts/kept-limits.js';
import { kindOf, ROLES, type Role } from '../../contracts/kinds.js';
import type { Output } from '../../contracts/schema-fields.js';
import type { DispatchRejected } from '../../contracts/session-events.js';
import type { UnreadableResult } from '../../ledger/ledger-entries.js';
import type { TaskLedger } from '../../ledger/task-ledger.js';
import { defined } from '../../shared/collections.js';
import { clipText } from '../../shared/text.js';

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

/** `answered`: later work or a later review of the task was readable, so this one need not be returned again. */
export const knownRejection = rejected.extend({ answered: z.literal(true).exactOptional() });
export type KnownRejection = Output<typeof knownRejection>;

export function rejectedBy({ data }: DispatchRejected, event: number): Rejected {
  const { sequence, role, task } = data.dispatch;
  const { code, reason, fix, meant } = data.error;
  const [why, how] = [reason, fix].map((text) => text && clipText(text, KEPT.rejection.text));
  const error = defined({ code, reason: why ?? '', fix: how, meant });
  return defined({ sequence, event, role, task, error });
}

export function addRejection(known: KnownRejection[], one: Rejected, ledgers: ReadonlyMap<string, Result>) {
  const at = known.findLastIndex(({ sequence }) => sequence < one.sequence) + 1;
  known.splice(at, 0, one);
  answerRejections(known, ledgers.get(one.task ?? ''));
  if (known.length > KEPT.rejection.list) known.shift();
}

type Result = Pick<TaskLedger, 'task' | 'last'>;

/** Marks the rejections of a task that are older than its newest readable result. */
export function answerRejections(known: KnownRejection[], result: Result | undefined): void {
  for (const [index, rejection] of known.entries())
    if (rejection.task === result?.task && rejection.sequence < (result?.last.sequence ?? 0))
      known[index] = { ...rejection, answered: true };
}

/** Returns the newest unanswered rejection of a task, or of a role of it. A note that is lost leaves nothing to do. */
export function unreadOf(known: readonly KnownRejection[], task: string, role?: Role) {
  return known.findLast(
    (rejection) =>
      rejection.task === task &&
      rejection.answered !== true &&
      (rejection.role === undefined ||
        (kindOf(rejection.role).part !== 'note' && [undefined, rejection.role].includes(role))),
  );
}

export function unreadableTasks(known: readonly KnownRejection[]) {
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

import { KEPT } from '../contracts/kept.js';
import type { Role } from '../contracts/kinds.js';
import type { DispatchRejected } from '../contracts/session-events.js';
import type { UnreadableResult } from '../ledger/ledger-entries.js';
import { clipText } from '../shared/text.js';

/** A rejected dispatch, as much of it as the fold keeps. */
export interface Rejected {
  /** The dispatch. */
  readonly sequence: number;
  /** Sequence of the session event that brought it. */
  readonly event: number;
  readonly role?: Role;
  /** Its task, where the result said it readably. */
  readonly task?: string;
  /** Why, and what would make it readable. */
  readonly error: { readonly code: string; readonly reason: string; readonly fix?: string };
}

/** The same once it is remembered. */
export interface KnownRejection extends Rejected {
  /** A later result of the task could be read, so nobody has to return this one again. */
  readonly answered?: true;
}

/** What is kept of a rejection. */
export function rejectedBy({ data }: DispatchRejected, event: number): Rejected {
  const { sequence, role, task } = data.dispatch;
  const { code, reason, fix } = data.error;
  return {
    sequence,
    event,
    ...(role !== undefined && { role }),
    ...(task !== undefined && { task }),
    error: {
      code,
      reason: clipText(reason, KEPT.rejection.text),
      ...(fix !== undefined && { fix: clipText(fix, KEPT.rejection.text) }),
    },
  };
}

/** Adds a rejection at its place by dispatch; beyond the limit the oldest is forgotten. */
export function addRejection(known: KnownRejection[], rejection: KnownRejection): void {
  const at = known.findLastIndex(({ sequence }) => sequence < rejection.sequence) + 1;
  known.splice(at, 0, rejection);
  if (known.length > KEPT.rejection.list) known.shift();
}

/** Notes that a result of the task could be read: what was rejected of it before is made up for. */
export function answerRejections(known: KnownRejection[], task: string, sequence: number): void {
  for (const [index, rejection] of known.entries()) {
    if (rejection.task !== task || rejection.answered === true || rejection.sequence > sequence) continue;
    known[index] = { ...rejection, answered: true };
  }
}

/** The newest rejection of a task, while no later result of it could be read. */
export function unreadOf(known: readonly KnownRejection[], task: string): KnownRejection | undefined {
  return known.findLast((rejection) => rejection.task === task && rejection.answered !== true);
}

/** For each task whose last result could not be read, that one. */
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

/** A rejection as the ledger of its task says it. */
export function unreadableResult({ sequence, role, error }: Rejected): UnreadableResult {
  return { dispatch: sequence, ...(role !== undefined && { role }), ...error };
}

import { createHash } from 'node:crypto';
import { ThroughlineError } from '../../contracts/errors.js';
import { dispatchMessageId, parseDispatchSubject } from '../../contracts/names.js';
import type { DispatchSource } from '../../engine/ports/dispatch-source.js';
import type { RejectedStore, WholeRejection } from '../../engine/ports/rejected-store.js';
import { CountedLog, type CountedLogPorts } from './counted-log.js';

export interface RetryPorts extends CountedLogPorts {
  readonly source: Pick<DispatchSource, 'publish'>;
  readonly rejected: Pick<RejectedStore, 'get' | 'remove'>;
}

/**
 * Publishes a rejected dispatch again, to its own subject, and then removes it from the store.
 *
 * A crash in between leaves it in both. Retrying within the dedupe window of two minutes publishes nothing new; later it is
 * another dispatch with the same result, which counts once.
 *
 * @param corrected replaces body and subject
 * @returns the sequence of the new dispatch
 * @throws ThroughlineError `not_found`, `duplicate` if its session has counted this dispatch, `stored_reply`
 */
export async function retryRejected(
  ports: RetryPorts,
  id: number,
  corrected?: { readonly subject: string; readonly body: Uint8Array },
): Promise<number> {
  const { source, rejected } = ports;
  const entry = await rejected.get(id);
  if (entry === undefined) throw new ThroughlineError('not_found', `no rejected result has the number ${id}`);
  if (entry.code === 'stored_reply')
    throw new ThroughlineError(
      'stored_reply',
      `${id} was not published as a result, and nothing is published: remove it with "throughline result rm ${id}"`,
      { details: { id } },
    );
  const { subject, body } = corrected ?? entry;
  await requireUncounted(ports, entry, subject);
  // A different correction is a different result.
  const retryId = corrected === undefined ? entry.retryId : `${entry.retryId}:${correctionOf(corrected)}`;
  const { sequence } = await source.publish(subject, body, dispatchMessageId(entry.session, retryId));
  await rejected.remove(id);
  return sequence;
}

/** Throws if a result would count twice in its session. */
async function requireUncounted(
  ports: RetryPorts,
  { id, session, sequence }: WholeRejection,
  subject: string,
): Promise<void> {
  if (session === undefined || parseDispatchSubject(subject).session !== session) return;
  const { recorded } = await new CountedLog(ports, session).look(sequence);
  if (!recorded.has(sequence)) return;
  throw new ThroughlineError(
    'duplicate',
    `${id} has counted as dispatch ${sequence} of session ${session}, and nothing was published: remove it with "throughline result rm ${id}"`,
    { details: { id, dispatch: sequence } },
  );
}

function correctionOf({ subject, body }: { readonly subject: string; readonly body: Uint8Array }): string {
  return createHash('sha256').update(`${subject}\n`).update(body).digest('hex');
}

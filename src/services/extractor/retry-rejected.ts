import { createHash } from 'node:crypto';
import { ThroughlineError } from '../../contracts/errors.js';
import { dispatchMessageId } from '../../contracts/names.js';
import type { DispatchSource } from '../../ports/dispatch-source.js';
import type { RejectedStore } from '../../ports/rejected-store.js';

/**
 * Publishes one rejected dispatch again, to the subject it came from, and only then removes it from the store.
 *
 * Killed in between, it stands in the store and in the source: to retry it again within the source's dedupe window of
 * two minutes publishes nothing new; later, it is one more dispatch, and the same result: it counts once.
 *
 * @param corrected what to publish in its place: the body, the subject, or both
 * @returns the sequence of the new dispatch
 * @throws ThroughlineError `not_found` when no rejection has this id
 */
export async function retryRejected(
  { source, rejected }: { readonly source: DispatchSource; readonly rejected: RejectedStore },
  id: number,
  corrected?: { readonly subject: string; readonly body: Uint8Array },
): Promise<number> {
  const entry = await rejected.get(id);
  if (entry === undefined) throw new ThroughlineError('not_found', `no rejected result has the number ${id}`);
  const { subject, body } = corrected ?? entry;
  // Corrected in another way, it is another result.
  const retryId = corrected === undefined ? entry.retryId : `${entry.retryId}:${correctionOf(corrected)}`;
  const { sequence } = await source.publish(subject, body, dispatchMessageId(entry.session, retryId));
  await rejected.remove(id);
  return sequence;
}

function correctionOf({ subject, body }: { readonly subject: string; readonly body: Uint8Array }): string {
  return createHash('sha256').update(`${subject}\n`).update(body).digest('hex');
}

import { checkedRequest } from '../../contracts/checked.js';
import { token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import type { Clock } from '../../ports/clock.js';
import type { LeaseStore } from '../../ports/lease-store.js';
import { hashOf } from '../../shared/hash.js';

/** Answers `run-claim`: a lease for each task of a session. Its key is a hash, so it does not outlive a session by its name. */
export function createRunClaim(leases: LeaseStore, clock: Clock) {
  return async (request: unknown): Promise<ToolReply<'run-claim'>> => {
    const asked = checkedRequest(TOOLS['run-claim'].request, request);
    const { task, holder, ttlMs, ended, release } = asked;
    const key = `run.${hashOf(JSON.stringify([token(asked.session, 'session'), task]))}`;
    if (release) {
      await leases.release(key, holder);
      return { claimed: false };
    }
    const claim = { holder, ttlMs, at: clock(), ...(ended !== undefined && { ended }) };
    const lease = await leases.claim(key, claim);
    return { claimed: lease.holder === holder, ...lease };
  };
}

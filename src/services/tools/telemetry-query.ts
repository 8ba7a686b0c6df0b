import { checkedRequest } from '../../contracts/checked.js';
import { noSuchSession, ThroughlineError } from '../../contracts/errors.js';
import { token } from '../../contracts/names.js';
import type { ToolReply } from '../../contracts/replies/replies.js';
import { totalTelemetry, unwrittenTelemetry } from '../../contracts/session-telemetry.js';
import { TOOLS } from '../../contracts/tool-requests.js';
import type { SessionReader } from '../../folding/session-folding.js';
import type { RejectedStore } from '../../ports/rejected-store.js';
import type { SessionLog } from '../../ports/session-log.js';
import type { TelemetryStore } from '../../ports/telemetry-store.js';

/** Answers `telemetry-show`: what compilers have counted of a session, and what its log says of results and progress. */
export interface TelemetryQueryOptions {
  /** What each compiler shows of what it has not written. */
  readonly unwritten: () => Promise<readonly unknown[]>;
  readonly reader: SessionReader;
  readonly log: Pick<SessionLog, 'read'>;
  readonly telemetry: TelemetryStore;
  readonly rejected: RejectedStore;
}

/** Rejected results that are looked through; they are counted by error code while they wait to be retried. */
const MAX_REJECTED = 1000;

export function createTelemetryQuery(options: TelemetryQueryOptions) {
  return async (request: unknown): Promise<ToolReply<'telemetry-show'>> => {
    const session = token(checkedRequest(TOOLS['telemetry-show'].request, request).session, 'session');
    const { state } = (await options.reader.load(session)).folded;
    if (state.sequence === 0) throw new ThroughlineError('not_found', noSuchSession(session));
    const { sequence } = state;
    const { counts: dispatches, ledgers } = state.dispatches.current();
    const approvalLoops = [...ledgers.values()].reduce((sum, ledger) => sum + ledger.approvalLoops, 0);
    // Before what is stored: what is written in between is then known to be in it.
    const stats = await options.unwritten();
    const compilers = stats.flatMap((data) => unwrittenTelemetry.safeParse(data).data ?? []);
    const [stored, { entries }, rebuilt] = await Promise.all([
      options.telemetry.load(session),
      options.rejected.page({ session, limit: MAX_REJECTED }),
      options.log.read(session, { after: 0, type: 'progress.rebuilt' }),
    ]);
    const rejections: Record<string, number> = {};
    for (const { code } of entries) rejections[code] = (rejections[code] ?? 0) + 1;
    const { retrievalMs, retrievalMaxMs, ...counts } = totalTelemetry(stored, compilers, session);
    return {
      ...{ session, sequence, dispatches: { ...dispatches }, rejections, approvalLoops },
      ...{ rebuilds: rebuilt.events.length, compilers: stats.length },
      ...counts,
      ...{ retrievalMs: rounded(retrievalMs), retrievalMaxMs: rounded(retrievalMaxMs) },
    };
  };
}

/** To hundredths. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}

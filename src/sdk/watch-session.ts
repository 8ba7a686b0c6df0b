import { checkOptions, ThroughlineError } from '../contracts/errors.js';
import { announcedOn, token } from '../contracts/names.js';
import type { TimelineEntry, TimelineListed } from '../contracts/replies/dispatch-result.js';
import type { ToolInput } from '../contracts/tool-requests.js';
import type { ClientTransport } from '../engine/ports/clients.js';
import { TailFollower } from '../engine/runtime/tail-follower.js';
import { linkedSignal } from '../shared/linked-signal.js';

/** The session to watch, and from where. */
export interface WatchOptions {
  readonly session: string;
  /** Sequence after which to begin, as `sequence` of an event or a reply. Default: what comes from now on. */
  readonly after?: number;
  /** Ends the watch. */
  readonly signal?: AbortSignal;
}

/** An announcement may be lost, or a user may not hear any: then this is the longest delay. */
const LOOK_EVERY_MS = 2000;

/** Follows the timeline of a session by requests about it alone, as a user bound to the session may make them. */
export async function* watchSession(
  transport: Pick<ClientTransport, 'listen'>,
  closing: AbortSignal,
  options: WatchOptions,
  list: (request: ToolInput<'timeline-list'>) => Promise<TimelineListed>,
): AsyncGenerator<TimelineEntry, void> {
  checkOptions(options, { session: true, after: true, signal: true }, 'watch');
  const session = token(options.session, 'session');
  const stop = linkedSignal([closing, options.signal]);
  let waiting: TimelineEntry[] = [];
  let failure: unknown;
  let wake = () => {};
  const read = async (after: number) => {
    const items: TimelineEntry[] = [];
    let page: TimelineListed | undefined;
    let through: number | undefined;
    do {
      const cursor: string | undefined = page?.next;
      page = await list({
        ...{ session, after, kinds: ['result', 'rejected', 'command', 'trace'], limit: 500 },
        ...(cursor !== undefined && { cursor }),
      });
      // The newest first: a later page may see more than the first one did.
      through ??= page.sequence;
      items.push(...page.entries);
    } while (page.next !== undefined);
    return { items: items.toReversed(), through, isMore: false };
  };
  const begin = async () => {
    const after = options.after ?? (await list({ session, limit: 1 })).sequence;
    return new TailFollower<TimelineEntry>({
      after,
      read,
      async tell(entries) {
        waiting.push(...entries);
        wake();
      },
      failed(error) {
        if (!isPassing(error)) failure = error;
        wake();
      },
    });
  };
  const follower = await begin();
  const poke = () => follower.poke();
  const unlisten = transport.listen?.(announcedOn(session), poke);
  const looking = setInterval(poke, LOOK_EVERY_MS);
  stop.signal.addEventListener('abort', () => wake());
  poke();
  try {
    while (!stop.signal.aborted) {
      const entries = waiting;
      waiting = [];
      yield* entries;
      if (failure !== undefined) throw failure;
      if (waiting.length > 0 || stop.signal.aborted) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    clearInterval(looking);
    unlisten?.();
    follower.close();
    stop.release();
  }
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof ThroughlineError)) return false;
  return error.code === 'rate_limited' || (error.code === 'unavailable' && error.details?.closed !== true);
}

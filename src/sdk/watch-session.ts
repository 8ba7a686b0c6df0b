import { checkOptions } from '../contracts/errors.js';
import { announcedOn, type Token, token } from '../contracts/names.js';
import type { TimelineEntry, TimelineListed } from '../contracts/replies/dispatch-result.js';
import type { ToolInput } from '../contracts/requests.js';
import type { SessionEvent } from '../contracts/session-events.js';
import type { ClientTransport } from '../engine/ports/clients.js';
import { linkedSignal } from '../shared/linked-signal.js';
import { passes } from './keep-trying.js';
import { TailFollower, type TailFollowerOptions } from './tail-follower.js';

/** The session to watch, and from where. */
export interface WatchInput {
  readonly session: string;
  /** Sequence after which to begin, as `sequence` of an event or a reply. Default: what comes from now on. */
  readonly after?: number;
  /** Ends the watch. */
  readonly signal?: AbortSignal;
}

/** Something that happened in a session: a result, a rejected result, a command or trace entries. */
export type WatchedEvent = TimelineEntry & {
  readonly kind: 'result' | 'rejected' | 'command' | 'trace';
  readonly type: SessionEvent['type'];
};

/** An announcement may be lost, or a user may not hear any: then this is the longest delay. */
const LOOK_EVERY_MS = 2000;

type ListTimeline = (request: ToolInput<'timeline-list'>) => Promise<TimelineListed>;

/** Tells what is in the timeline of a session after a sequence, the oldest first. */
export function tailTimeline(
  session: Token,
  after: number,
  list: ListTimeline,
  on: Pick<TailFollowerOptions<WatchedEvent>, 'tell' | 'failed'>,
): TailFollower<WatchedEvent> {
  return new TailFollower<WatchedEvent>({
    ...on,
    after,
    async read(from) {
      const items: WatchedEvent[] = [];
      let page: TimelineListed | undefined;
      let through: number | undefined;
      do {
        const cursor: string | undefined = page?.next;
        page = await list({
          ...{ session, after: from, kinds: ['result', 'rejected', 'command', 'trace'], limit: 500 },
          ...(cursor !== undefined && { cursor }),
        });
        // The newest first: a later page may see more than the first one did.
        through ??= page.sequence;
        items.push(...(page.entries as WatchedEvent[]));
      } while (page.next !== undefined);
      return { items: items.toReversed(), through, isMore: false };
    },
  });
}

/** Follows the timeline of a session by requests about it alone, as a user bound to the session may make them. */
export async function* watchSession(
  transport: Pick<ClientTransport, 'listen'>,
  closing: AbortSignal,
  options: WatchInput,
  list: ListTimeline,
): AsyncGenerator<WatchedEvent, void> {
  checkOptions(options, { session: true, after: true, signal: true }, 'watch');
  const session = token(options.session, 'session');
  const newest = async () => (await list({ session, limit: 1 })).sequence;
  let waiting: WatchedEvent[] = [];
  let failure: unknown;
  let wake = () => {};
  const failed = (error: unknown) => {
    if (!passes(error)) failure = error;
    wake();
  };
  const follower = tailTimeline(session, options.after ?? (await newest()), list, {
    async tell(entries) {
      waiting.push(...entries);
      wake();
    },
    failed,
  });
  const look = async () => {
    const before = follower.at;
    follower.endsAt(await newest(), before);
  };
  const stop = linkedSignal([closing, options.signal]);
  stop.signal.addEventListener('abort', () => wake());
  const looking = setInterval(() => void look().catch(failed), LOOK_EVERY_MS);
  const unlisten = transport.listen?.(announcedOn(session), () => follower.poke());
  follower.poke();
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

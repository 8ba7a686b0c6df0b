import type { Token } from '../contracts/names.js';
import type { TimelineEntry } from '../contracts/replies/timeline-reply.js';
import { TailFollower } from '../engine/runtime/tail-follower.js';
import { natsTransport } from '../nats/connection/nats-client-transport.js';
import type { NatsPorts } from '../nats/open-nats.js';
import { ThroughlineClient } from '../sdk/throughline-client.js';
import { type Cli, note } from './command-context.js';

/** What is watched, until it is stopped. */
export interface Watching {
  /** Looks for what was not heard of. */
  readonly look: () => void;
  readonly stop: () => void;
}

export interface WatchShown {
  readonly show: (session: Token, entry: TimelineEntry) => void;
  readonly failed: (error: unknown) => void;
}

/** Announcements may get lost: this is the longest wait then. */
const LOOK_EVERY_MS = 2000;

/** By requests about this session alone, as a user who is bound to it may make them. */
export async function watchOneSession(
  { config }: Cli,
  nats: NatsPorts,
  session: Token,
  { show, failed }: WatchShown,
): Promise<Watching> {
  const timeoutMs = config.requestTimeoutMs;
  const client = new ThroughlineClient(natsTransport(nats.connection, timeoutMs), { timeoutMs });
  const kinds = ['result', 'rejected', 'command', 'trace'] as const;
  const { sequence: after } = await client.tools.timelineList({ session, limit: 1 });
  if (after === 0) note(`-- there is no session ${session} yet: waiting for it to begin`);
  const follower = new TailFollower<TimelineEntry>({
    after,
    failed,
    async read(from) {
      const items: TimelineEntry[] = [];
      let through = from;
      let cursor: string | undefined;
      do {
        // The newest first: a later page must not see more than the first one did.
        const page = await client.tools.timelineList({
          ...{ session, kinds: [...kinds], after: from, limit: 500 },
          ...(cursor !== undefined && { cursor }),
        });
        if (cursor === undefined) through = page.sequence;
        items.push(...page.entries);
        cursor = page.next;
      } while (cursor !== undefined);
      return { items: items.toReversed(), through, isMore: false };
    },
    async tell(entries) {
      for (const entry of entries) show(session, entry);
    },
  });
  const look = () => follower.poke();
  const unwatch = nats.log.watch(session, look);
  const looking = setInterval(look, LOOK_EVERY_MS);
  return {
    look,
    stop() {
      clearInterval(looking);
      if (!nats.connection.isClosed()) unwatch();
      follower.close();
    },
  };
}

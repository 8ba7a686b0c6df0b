import type { Token } from '../../contracts/names.js';
import { onReconnect } from '../../nats/connection/on-reconnect.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { Serving } from './service-context.js';
import { SessionFeed } from './session-feed.js';
import { SessionTable } from './session-table.js';

/** The sessions of the installation as the services of one process know them: one table, and what keeps it up to date. */
export interface KnownSessions {
  readonly table: SessionTable;
  readonly feed: SessionFeed;
  /** Milliseconds since 1970, by the clock of the server: what decides on erasing goes by no other one. */
  readonly now: () => number;
}

/**
 * Not started: `feed.start()` does, once everything that listens has been added.
 *
 * @param own ports on a connection of its own: all events come by it, and no request must wait behind them
 */
export async function knownSessions(
  nats: NatsPorts,
  own: NatsPorts,
  { logger, shutdown, lifecycle }: Pick<Serving, 'logger' | 'shutdown' | 'lifecycle'>,
): Promise<KnownSessions> {
  const clock = await nats.openClock();
  shutdown.add('the clock of the server', async () => clock.close());
  const { now } = clock;
  const table = new SessionTable(now);
  const feed = new SessionFeed({
    table,
    log: {
      activity: () => nats.log.activity(),
      follow: (onMoved) => own.log.follow(onMoved),
    },
    index: nats.index,
    logger,
    now,
    onReconnect: (listener) => onReconnect(own.connection, listener),
  });
  shutdown.add('the feed of sessions', () => feed.stop());
  const leaving = new Set<Token>();
  const unwatch = lifecycle.onChange((change) => {
    if (change.kind === 'forgetting') {
      leaving.add(change.session);
      table.removed(change.session);
    } else if (change.kind === 'forgotten') {
      // What was heard of it meanwhile is gone as well; a new session of that name is found again.
      const left = new Set(lifecycle.unfinished());
      for (const session of leaving) {
        if (left.has(session)) continue;
        leaving.delete(session);
        table.removed(session);
      }
      void feed.compare();
    }
  });
  shutdown.add('the lifecycle of known sessions', async () => unwatch());
  return { table, feed, now };
}

import type { InstalledLayout } from '../../contracts/session-layout.js';
import type { SessionPlace } from '../../nats/jetstream/session-places.js';
import type { NatsPorts } from '../../nats/open-nats.js';

/** The layout of an installation, and how far a move of its sessions is. */
export interface LayoutStatus {
  readonly layout: InstalledLayout;
  /** Sessions by where they are: `own` with a stream of their own, `sharded` in shards. */
  readonly sessions: { readonly own: number; readonly sharded: number };
  /** Sessions that are on their way, or would be gone on with. */
  readonly onTheirWay: number;
  /** Streams that a finished move has left behind: `throughline layout migrate --finish` removes them. */
  readonly left: number;
}

const ON_THEIR_WAY: ReadonlySet<SessionPlace> = new Set(['fenced', 'returning']);

export async function layoutStatus({
  moving,
  logs,
}: Pick<NatsPorts, 'moving' | 'logs'>): Promise<LayoutStatus> {
  const { layout } = await moving.recorded();
  const streams = await moving.own.list();
  const count = (fits: (place: SessionPlace) => boolean) => streams.filter(({ place }) => fits(place)).length;
  const isInShard = (place: SessionPlace) => place === 'moved' || place === 'returning';
  if (layout.layout === 'sharded') {
    const sharded = (await logs.sharded(layout.shards).sessions()).length;
    return { layout, sessions: { own: 0, sharded }, onTheirWay: 0, left: streams.length };
  }
  return {
    layout,
    sessions: { own: count((place) => !isInShard(place)), sharded: count(isInShard) },
    onTheirWay: count((place) => ON_THEIR_WAY.has(place)),
    left: 0,
  };
}

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { TimelineEntry } from '../../contracts/replies/timeline-reply.js';
import { ask } from '../ask.js';
import { onLive } from '../live.js';
import { asRequest, fitsFilter, type TimelineFilter } from './timeline-filter.js';
import { TimelineStore } from './timeline-store.js';

/**
 * The timeline of a session, live; another session or filter gets another store. The store changes in place, and its
 * version with it: a component that gets the store gets the version too, else nothing tells it to render again.
 */
export function useTimeline(
  session: string,
  filter: TimelineFilter,
): { readonly store: TimelineStore; readonly version: number } {
  const [version, setVersion] = useState(0);
  const key = JSON.stringify([session, filter]);
  const store = useMemo(
    () =>
      new TimelineStore({
        ask: (request) => ask('tool.timeline-list', { session, ...asRequest(filter), ...request }),
        fits: (entry) => fitsFilter(filter, entry),
        changed: () => setVersion((old) => old + 1),
      }),
    [key],
  );
  useEffect(() => {
    void store.restart();
    const stop = follow(session, store);
    return () => {
      stop();
      store.close();
    };
  }, [store]);
  return { store, version };
}

/** Brings what happens into the store, at most once in a frame. */
function follow(session: string, store: TimelineStore): () => void {
  let arrived: TimelineEntry[] = [];
  let frame: number | undefined;
  const flush = () => {
    frame = undefined;
    const entries = arrived;
    arrived = [];
    store.add(entries);
  };
  const off = onLive((event) => {
    if (event.event === 'lost') void store.catchUp();
    if ((event.event !== 'change' && event.event !== 'prompt') || event.session !== session) return;
    if (event.entry === undefined) return;
    arrived.push(event.entry);
    frame ??= requestAnimationFrame(flush);
  });
  return () => {
    off();
    if (frame !== undefined) cancelAnimationFrame(frame);
  };
}

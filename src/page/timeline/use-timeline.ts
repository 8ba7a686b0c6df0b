import { useEffect, useRef, useState } from 'preact/hooks';
import type { TimelineEntry, TimelineKind, TimelineListed } from '../../contracts/result-requests.js';
import { ask } from '../ask.js';
import { onLive, throttled, whenOpen } from '../live.js';
import { asAskError, type Pages, type QueryState } from '../use-ask.js';

/** Entries of one request. */
const PAGE = 200;
/** A prompt compiled meanwhile may reflect an earlier event than the newest known one. */
const LOOK_BACK = 50;
/** Shortest time between two requests for what is new, in milliseconds. */
const EVERY_MS = 30;

/** Loads the entries of a timeline, adds new ones as they happen, and older ones page by page. */
export function useTimeline(
  session: string,
  filter: TimelineFilter,
): QueryState<TimelineListed> & Pick<Pages<unknown>, 'more' | 'loadingMore'> {
  const key = JSON.stringify([session, filter]);
  const [loaded, setLoaded] = useState<
    Pick<QueryState<TimelineListed>, 'reply' | 'error'> & { readonly key: string }
  >({ key });
  const [loadingMore, setLoading] = useState(false);
  const load = useRef({ newer: () => {}, older: () => {} });
  useEffect(() => {
    let known: TimelineListed | undefined;
    let isClosed = false;
    const list = (part: { readonly cursor?: string; readonly after?: number }) =>
      ask('tool.timeline-list', {
        session,
        kinds: filter.kinds.length === 0 ? undefined : filter.kinds,
        task: filter.task || undefined,
        failed: filter.failed || undefined,
        upTo: filter.at,
        limit: PAGE,
        ...part,
      });
    const carryOut = async (work: () => Promise<TimelineListed>) => {
      try {
        known = await work();
        if (!isClosed) setLoaded({ key, reply: known });
      } catch (error) {
        if (!isClosed) setLoaded({ key, ...(known && { reply: known }), error: asAskError(error) });
      }
    };
    const newer = throttled(
      () =>
        carryOut(async () => {
          await whenOpen();
          const page = await list(
            known === undefined ? {} : { after: Math.max(0, known.sequence - LOOK_BACK) },
          );
          // After more events than a page holds, the list begins again from the newest.
          if (known === undefined || page.next !== undefined) return page;
          return { ...known, sequence: page.sequence, entries: joined(page.entries, known.entries) };
        }),
      EVERY_MS,
    );
    const older = async () => {
      const cursor = known?.next;
      if (cursor === undefined) return;
      setLoading(true);
      await carryOut(async () => {
        const page = await list({ cursor });
        return known?.next === cursor
          ? { ...page, sequence: known.sequence, entries: joined(known.entries, page.entries) }
          : (known ?? page);
      });
      setLoading(false);
    };
    load.current = { newer: newer.now, older: () => void older() };
    newer.now();
    const off = onLive((event) => {
      const isOurs = (event.event === 'change' || event.event === 'prompt') && event.session === session;
      if (event.event === 'lost' || isOurs) newer.soon();
    });
    return () => {
      isClosed = true;
      off();
      newer.stop();
    };
  }, [key]);
  const { reply, error } = loaded.key === key ? loaded : {};
  return {
    ...(reply && { reply }),
    ...(error && { error }),
    loading: reply === undefined && error === undefined,
    refresh: () => load.current.newer(),
    loadingMore,
    ...(reply?.next !== undefined && { more: () => load.current.older() }),
  };
}

function joined(newer: readonly TimelineEntry[], older: readonly TimelineEntry[]): TimelineEntry[] {
  return [...new Map([...newer, ...older].map((entry) => [entry.key, entry])).values()];
}

export type TimelineFilter = ReturnType<typeof filterOf>;

export const KINDS: readonly { readonly kind: TimelineKind; readonly label: string }[] = [
  { kind: 'result', label: 'Results' },
  { kind: 'rejected', label: 'Rejected' },
  { kind: 'command', label: 'Commands' },
  { kind: 'trace', label: 'Traces' },
  { kind: 'prompt', label: 'Prompts' },
];

/** Reads the filter of the address: `kind=result,prompt&task=TAS-1&failed=1&at=42`. */
export function filterOf(params: URLSearchParams) {
  const at = Number(params.get('at') ?? 0);
  const named = (params.get('kind') ?? '').split(',');
  return {
    /** Empty for all kinds. */
    kinds: KINDS.map(({ kind }) => kind).filter((kind) => named.includes(kind)),
    task: params.get('task') ?? '',
    failed: params.get('failed') === '1',
    /** The newest event sequence. */
    at: Number.isSafeInteger(at) && at > 0 ? at : undefined,
  };
}

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { TimelineEntry, TimelineListed } from '../../contracts/replies/dispatch-result.js';
import { ask } from '../ask.js';
import { onLive, throttled, whenOpen } from '../live.js';
import { asRequest, type TimelineFilter } from './timeline-row.js';

interface PageAsked {
  readonly limit: number;
  readonly cursor?: string;
  readonly after?: number;
}

type PageReply = Pick<TimelineListed, 'sequence' | 'next' | 'entries'>;

interface TimelineStoreOptions {
  /** Loads a page: older than a cursor, newer than a sequence, or the newest one. */
  readonly ask: (request: PageAsked) => Promise<PageReply>;
  readonly changed: () => void;
  readonly limits?: { readonly page: number; readonly top: number };
}

/** Entries of one request, and live entries at the top: beyond that the list restarts from the newest. */
const LIMITS = { page: 200, top: 1_000 };
/** Entries that one catch-up loads; if there are more, the list restarts. */
const CATCH_UP = 500;
/** A prompt compiled meanwhile may reflect an earlier event than the newest known one. */
const LOOK_BACK = 50;
/** Shortest time between two requests for what is new, in milliseconds. */
const CATCH_UP_EVERY_MS = 30;
/** Rows before the end of the list at which the next page is loaded. */
const AHEAD = 60;

/** The entries of a timeline: live ones at index 0, and older ones in pages that are loaded as a person scrolls. */
export class TimelineStore {
  readonly #options: TimelineStoreOptions;
  readonly #limits: typeof LIMITS;
  #entries: TimelineEntry[] = [];
  #keys = new Set<string>();
  #next: string | undefined;
  #newest = 0;
  #loadingMore = false;
  #restarting = false;
  #closed = false;

  /** Live entries so far: `index - added` identifies a row within a generation. */
  added = 0;
  /** Incremented by each restart. */
  generation = 0;
  /** Live entries that did not fit: a restart shows them. */
  missed = 0;
  /** True once the first page is loaded. */
  ready = false;
  error: unknown;
  /** Set by the view while the first row is visible: the list then restarts at once when the top is full. */
  atTop = true;

  constructor(options: TimelineStoreOptions) {
    this.#options = options;
    this.#limits = options.limits ?? LIMITS;
  }

  get count(): number {
    return this.#entries.length;
  }

  /** True if there are older entries. */
  get more(): boolean {
    return this.#next !== undefined;
  }

  at(index: number): TimelineEntry | undefined {
    return this.#entries[index];
  }

  /** Restarts from the newest entry. The rows stay until the reply arrives. */
  async restart(): Promise<void> {
    if (this.#restarting) return;
    this.#restarting = true;
    await this.#guarded(async () => {
      const { entries, next, sequence } = await this.#options.ask({ limit: this.#limits.page });
      this.#entries = [...entries];
      this.#keys = new Set(entries.map(({ key }) => key));
      this.#next = next;
      this.#newest = sequence;
      this.added = 0;
      this.missed = 0;
      this.ready = true;
      this.generation += 1;
    });
    this.#restarting = false;
    this.#changed();
  }

  /** Adds live entries, the oldest first. */
  add(entries: readonly TimelineEntry[]): void {
    if (!this.ready) return;
    const fresh: TimelineEntry[] = [];
    for (const entry of entries) {
      this.#newest = Math.max(this.#newest, entry.sequence);
      if (this.#keys.has(entry.key)) continue;
      if (this.missed > 0 || this.added + fresh.length >= this.#limits.top) {
        this.missed += 1;
        continue;
      }
      fresh.unshift(entry);
      this.#keys.add(entry.key);
    }
    this.#entries = [...fresh, ...this.#entries];
    this.added += fresh.length;
    if (this.missed > 0 && this.atTop) void this.restart();
    if (fresh.length > 0 || this.missed > 0) this.#changed();
  }

  /** Loads the entries since the newest one. */
  async catchUp(): Promise<void> {
    if (!this.ready) return this.restart();
    await this.#guarded(async () => {
      const after = Math.max(0, this.#newest - LOOK_BACK);
      const reply = await this.#options.ask({ limit: CATCH_UP, after });
      if (reply.next !== undefined) return this.restart();
      this.#newest = Math.max(this.#newest, reply.sequence);
      this.add(reply.entries.toReversed());
    });
  }

  /** Loads the next page if the visible rows come near the end. */
  want(last: number): void {
    if (this.ready && this.error === undefined && last >= this.count - AHEAD) void this.#loadMore();
  }

  retry(): void {
    this.error = undefined;
    if (this.ready) this.want(this.count);
    else void this.restart();
    this.#changed();
  }

  close(): void {
    this.#closed = true;
  }

  async #loadMore(): Promise<void> {
    const cursor = this.#next;
    if (cursor === undefined || this.#loadingMore || this.#restarting) return;
    this.#loadingMore = true;
    const { generation } = this;
    await this.#guarded(async () => {
      const { entries, next } = await this.#options.ask({ limit: this.#limits.page, cursor });
      if (generation !== this.generation) return;
      this.#next = next;
      const fresh = entries.filter(({ key }) => !this.#keys.has(key));
      for (const { key } of fresh) this.#keys.add(key);
      this.#entries = [...this.#entries, ...fresh];
    });
    this.#loadingMore = false;
    this.#changed();
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.error = undefined;
    } catch (error) {
      this.error = error;
    }
  }

  #changed(): void {
    if (!this.#closed) this.#options.changed();
  }
}

/**
 * Returns a live store for a filter of a session. The store changes in place, so components also take its version, which makes
 * them render again.
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
        changed: () => setVersion((old) => old + 1),
      }),
    [key],
  );
  useEffect(() => {
    void whenOpen().then(() => store.restart());
    const stop = follow(session, store);
    return () => {
      stop();
      store.close();
    };
  }, [store]);
  return { store, version };
}

/** Loads what is new when something has happened in the session. */
function follow(session: string, store: TimelineStore): () => void {
  const catchUp = throttled(() => store.catchUp(), CATCH_UP_EVERY_MS);
  const off = onLive((event) => {
    const isOurs = (event.event === 'change' || event.event === 'prompt') && event.session === session;
    if (event.event === 'lost' || isOurs) catchUp.soon();
  });
  return () => {
    off();
    catchUp.stop();
  };
}

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { TimelineEntry, TimelineListed } from '../../contracts/replies/dispatch-result.js';
import { ask } from '../ask.js';
import { onLive, whenOpen } from '../live.js';
import { asRequest, fitsFilter, type TimelineFilter } from './timeline-row.js';

interface TimelineStoreOptions {
  /** Loads a page: older than a cursor, newer than a sequence, or the newest one. */
  readonly ask: (request: {
    readonly limit: number;
    readonly cursor?: string;
    readonly after?: number;
  }) => Promise<TimelineListed>;
  /** Applies the filter to a live entry. */
  readonly fits: (entry: TimelineEntry) => boolean;
  readonly changed: () => void;
  readonly limits?: Partial<TimelineLimits>;
}

interface TimelineLimits {
  /** Entries of one request. */
  readonly page: number;
  /** Live entries at the top; beyond that the list restarts from the newest. */
  readonly top: number;
  /** Older pages in memory. */
  readonly pages: number;
}

const LIMITS: TimelineLimits = { page: 200, top: 1_000, pages: 20 };
/** Entries that one catch-up loads; if there are more, the list restarts. */
const CATCH_UP = 500;
/** Rows before the end of the list at which the next page is loaded. */
const AHEAD = 60;

interface Page {
  readonly cursor: string;
  /** Index of its first entry, counted from the end of the live entries. */
  start: number;
  count: number;
  entries: readonly TimelineEntry[] | undefined;
  loading: boolean;
}

/**
 * A window on the entries of a timeline: live entries at index 0, and older ones in pages that are loaded on demand. Pages far
 * from the visible rows are evicted, so that a session of any length needs bounded memory.
 */
export class TimelineStore {
  readonly #options: TimelineStoreOptions;
  readonly #limits: TimelineLimits;
  #top: TimelineEntry[] = [];
  #keys = new Set<string>();
  #pages: Page[] = [];
  #next: string | undefined;
  #newest = 0;
  #loadingMore = false;
  #restarting = false;
  #closed = false;
  #window: readonly [first: number, last: number] = [0, 0];

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
    this.#limits = { ...LIMITS, ...options.limits };
  }

  get count(): number {
    const last = this.#pages.at(-1);
    return this.#top.length + (last === undefined ? 0 : last.start + last.count);
  }

  /** True if there are older entries. */
  get more(): boolean {
    return this.#next !== undefined;
  }

  /** Number of entries in memory. */
  get held(): number {
    return this.#pages.reduce((sum, { entries }) => sum + (entries?.length ?? 0), this.#top.length);
  }

  /** Returns the entry of a row; undefined while its page is not loaded. */
  at(index: number): TimelineEntry | undefined {
    if (index < this.#top.length) return this.#top[index];
    const below = index - this.#top.length;
    const page = this.#pageAt(below);
    return page?.entries?.[below - page.start];
  }

  /** Restarts from the newest entry. The rows stay until the reply arrives. */
  async restart(): Promise<void> {
    if (this.#restarting) return;
    this.#restarting = true;
    await this.#guarded(async () => {
      const { entries, next, sequence } = await this.#options.ask({ limit: this.#limits.page });
      if (this.#closed) return;
      this.#top = [...entries];
      this.#keys = new Set(entries.map(({ key }) => key));
      this.#pages = [];
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
    let changed = false;
    for (const entry of entries) {
      this.#newest = Math.max(this.#newest, entry.sequence);
      if (this.#keys.has(entry.key) || !this.#options.fits(entry)) continue;
      changed = true;
      if (this.missed > 0 || this.#top.length >= this.#limits.top) {
        this.missed += 1;
        continue;
      }
      this.#top.unshift(entry);
      this.#keys.add(entry.key);
      this.added += 1;
    }
    if (this.missed > 0 && this.atTop) void this.restart();
    if (changed) this.#changed();
  }

  /** Loads the entries since the newest one, after a gap in the live feed. */
  async catchUp(): Promise<void> {
    if (!this.ready) return this.restart();
    await this.#guarded(async () => {
      // Starts one sequence earlier: a prompt compiled meanwhile may reflect the newest known event.
      const reply = await this.#options.ask({ limit: CATCH_UP, after: Math.max(0, this.#newest - 1) });
      if (this.#closed) return;
      if (reply.next !== undefined) return this.restart();
      this.#newest = Math.max(this.#newest, reply.sequence);
      this.add(reply.entries.toReversed());
    });
  }

  /** Loads missing pages of the visible rows. */
  want(first: number, last: number): void {
    this.#window = [first, last];
    if (!this.ready || this.error !== undefined) return;
    for (const page of this.#pages) {
      const start = this.#top.length + page.start;
      if (page.entries !== undefined || page.loading || start > last || start + page.count <= first) continue;
      void this.#reload(page);
    }
    if (last >= this.count - AHEAD) void this.#loadMore();
  }

  retry(): void {
    this.error = undefined;
    if (this.ready) this.want(...this.#window);
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
      if (generation !== this.generation || this.#closed) return;
      this.#next = next;
      if (entries.length === 0) return;
      const last = this.#pages.at(-1);
      const start = last === undefined ? 0 : last.start + last.count;
      this.#pages.push({ cursor, start, count: entries.length, entries, loading: false });
      this.#drop();
    });
    this.#loadingMore = false;
    this.#changed();
  }

  async #reload(page: Page): Promise<void> {
    page.loading = true;
    await this.#guarded(async () => {
      const { entries } = await this.#options.ask({ limit: this.#limits.page, cursor: page.cursor });
      page.entries = entries;
      if (entries.length !== page.count) {
        page.count = entries.length;
        this.#count();
      }
      this.#drop();
    });
    page.loading = false;
    this.#changed();
  }

  /** Evicts the pages farthest from the visible rows. */
  #drop(): void {
    const held = this.#pages.filter(({ entries }) => entries !== undefined);
    const middle = (this.#window[0] + this.#window[1]) / 2 - this.#top.length;
    const far = (page: Page) => Math.abs(page.start + page.count / 2 - middle);
    const tooMany = Math.max(0, held.length - this.#limits.pages);
    for (const page of held.sort((a, b) => far(b) - far(a)).slice(0, tooMany)) page.entries = undefined;
  }

  #count(): void {
    let start = 0;
    for (const page of this.#pages) {
      page.start = start;
      start += page.count;
    }
  }

  #pageAt(below: number): Page | undefined {
    let low = 0;
    let high = this.#pages.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const page = this.#pages[middle];
      if (page === undefined) return undefined;
      if (below < page.start) high = middle - 1;
      else if (below >= page.start + page.count) low = middle + 1;
      else return page;
    }
    return undefined;
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
 * Returns a live store for a session and filter. The store changes in place, so components also take its version, which
 * makes them render again.
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
    void whenOpen().then(() => store.restart());
    const stop = follow(session, store);
    return () => {
      stop();
      store.close();
    };
  }, [store]);
  return { store, version };
}

/** Adds live events to the store, at most once in a frame. */
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

import { describe, expect, it } from 'vitest';
import type { TimelineEntry, TimelineListed } from '../../../src/contracts/replies/dispatch-result.js';
import { TimelineStore } from '../../../src/page/timeline/timeline-store.js';

/** The entry of an event. */
function entryOf(sequence: number): TimelineEntry {
  const at = new Date(sequence * 1000).toISOString();
  return {
    key: `e${sequence}`,
    kind: 'command',
    at,
    sequence,
    type: 'task.added',
    summary: `event ${sequence}`,
  };
}

/** A log of so many events, and a store on it; `asked` names each request. */
function storeOn(events: number, limits = { page: 10, top: 30 }) {
  const log = { events, asked: [] as string[], fault: undefined as Error | undefined };
  const ask = async (request: {
    limit: number;
    cursor?: string;
    after?: number;
  }): Promise<TimelineListed> => {
    log.asked.push(
      request.after === undefined ? `below ${request.cursor ?? 'all'}` : `after ${request.after}`,
    );
    if (log.fault !== undefined) throw log.fault;
    const newest = request.cursor === undefined ? log.events : Number(request.cursor) - 1;
    const least = Math.max(0, newest - request.limit, request.after ?? 0);
    const entries = Array.from({ length: newest - least }, (_, place) => entryOf(newest - place));
    const more = least > (request.after ?? 0);
    return { entries, sequence: log.events, ...(more ? { next: String(least + 1) } : {}) };
  };
  const store = new TimelineStore({ ask, changed: () => undefined, limits });
  return { log, store };
}

/** The sequences of all rows; 0 for a row that is not loaded. */
const rowsOf = (store: TimelineStore) =>
  Array.from({ length: store.count }, (_, index) => store.at(index)?.sequence ?? 0);
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, place) => from - place);
/** Resolves once pending requests are answered. */
const answered = () => new Promise((done) => setImmediate(done));

async function scrolledTo(store: TimelineStore, last: number) {
  store.want(last);
  await answered();
  store.want(last);
  await answered();
}

describe('the entries of a timeline', () => {
  it('a timeline begins with the newest entries, and loads older ones near the end of what it knows', async () => {
    const { store } = storeOn(500, { page: 100, top: 300 });
    await store.restart();
    expect(rowsOf(store)).toEqual(down(500, 401));
    await scrolledTo(store, 30);
    expect(store.count).toBe(100);
    store.want(60);
    await answered();
    expect(rowsOf(store)).toEqual(down(500, 301));
    expect(store.more).toBe(true);
  });

  it('a new entry stands at the top once, however often it is told', async () => {
    const { store } = storeOn(5);
    await store.restart();
    store.add([entryOf(5), entryOf(6), entryOf(6), entryOf(8)]);
    expect(rowsOf(store)).toEqual([8, 6, 5, 4, 3, 2, 1]);
    expect(store.added).toBe(2);
  });

  it('what happened during a break is asked for and stands at the top', async () => {
    const { store, log } = storeOn(5);
    await store.restart();
    log.events = 9;
    await store.catchUp();
    expect(log.asked.at(-1)).toBe('after 0');
    expect(rowsOf(store)).toEqual(down(9, 1));
    expect(store.generation).toBe(1);
  });

  it('after a long break the list begins again from the newest', async () => {
    const { store, log } = storeOn(5, { page: 10, top: 30 });
    await store.restart();
    log.events = 2_000;
    await store.catchUp();
    expect(rowsOf(store)).toEqual(down(2_000, 1_991));
    expect(store.generation).toBe(2);
  });

  it('a full top begins again for a reader at the top, and counts what another reader misses', async () => {
    const { store, log } = storeOn(5);
    await store.restart();
    log.events = 50;
    store.atTop = false;
    store.add(down(50, 6).reverse().map(entryOf));
    expect(store.count).toBe(35);
    expect(store.missed).toBe(15);
    store.atTop = true;
    store.add([entryOf(51)]);
    await answered();
    expect(store.missed).toBe(0);
    expect(rowsOf(store)).toEqual(down(50, 41));
  });

  it('a request that failed is told, and tried again when a person asks for it', async () => {
    const { store, log } = storeOn(50);
    log.fault = new Error('away');
    await store.restart();
    expect(store.error).toBe(log.fault);
    log.fault = undefined;
    store.retry();
    await answered();
    expect(store.error).toBeUndefined();
    expect(rowsOf(store)).toEqual(down(50, 41));
  });
});

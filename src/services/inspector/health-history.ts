import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { HealthHistoryReply, HealthPoint } from '../../contracts/inspector-api.js';
import { EXTRACTOR_CONSUMER } from '../../contracts/names.js';
import type { HealthShown } from '../../contracts/replies/health-reply.js';

const EVERY_MS = 10_000;
const HOUR = 3_600_000 / EVERY_MS;

/** Samples the health every ten seconds, once for all browsers, and stores an hour of it. */
export class HealthHistory {
  readonly #show: () => Promise<HealthShown>;
  readonly #closing = new AbortController();
  readonly #points: HealthPoint[] = [];
  #before: HealthShown | undefined;

  /** @param show rejects if the health is unknown; that sample is skipped */
  constructor(show: () => Promise<HealthShown>) {
    this.#show = show;
  }

  get reply(): HealthHistoryReply {
    return { everyMs: EVERY_MS, points: this.#points };
  }

  async run(everyMs = EVERY_MS): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.look();
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async look(): Promise<void> {
    const shown = await this.#show().catch(() => undefined);
    if (shown === undefined) return;
    this.#points.push(pointOf(shown, this.#before));
    if (this.#points.length > HOUR) this.#points.shift();
    this.#before = shown;
  }

  close(): void {
    this.#closing.abort();
  }
}

export function pointOf(shown: HealthShown, before: HealthShown | undefined): HealthPoint {
  const seconds = before === undefined ? 0 : (Date.parse(shown.at) - Date.parse(before.at)) / 1000;
  const rate = (count: number | undefined, earlier: number | undefined) =>
    // Counters restart when a stream is purged or a process restarts.
    count === undefined || earlier === undefined || seconds <= 0
      ? undefined
      : Math.max(0, count - earlier) / seconds;
  const [now, then] = [compiled(shown), before && compiled(before)];
  const extractor = shown.dispatches?.consumers.find(({ consumer }) => consumer === EXTRACTOR_CONSUMER);
  return defined({
    at: shown.at,
    pending: extractor && extractor.pending + extractor.unacked,
    resultsPerSecond: rate(shown.dispatches?.newest, before?.dispatches?.newest),
    rejectedPerSecond: rate(shown.rejected, before?.rejected),
    compilesPerSecond: rate(now?.count, then?.count),
    compileMsMean:
      now && then && now.count > then.count ? (now.ms - then.ms) / (now.count - then.count) : undefined,
    snapshotLag: snapshotLag(shown),
  });
}

function snapshotLag({ dispatches, snapshots }: HealthShown): number | undefined {
  if (dispatches?.newestAt === undefined || snapshots?.newestAt === undefined) return undefined;
  return Math.max(0, Date.parse(dispatches.newestAt) - Date.parse(snapshots.newestAt)) / 1000;
}

/** Sums the compiles of all compilers; undefined if none is known. */
function compiled({ services }: HealthShown): { readonly count: number; readonly ms: number } | undefined {
  const all = services.flatMap(({ numbers }) => compiledNumbers.safeParse(numbers.compiled).data ?? []);
  if (all.length === 0) return undefined;
  const sum = (of: (each: (typeof all)[number]) => number) =>
    all.reduce((total, each) => total + of(each), 0);
  return { count: sum(({ count }) => count), ms: sum(({ ms }) => ms) };
}

const compiledNumbers = z.object({ count: z.number(), ms: z.number() });

type Undefinable<Value> = { readonly [Key in keyof Value]: Value[Key] | undefined } & { readonly at: string };

function defined(point: Undefinable<HealthPoint>): HealthPoint {
  const known = Object.entries(point).filter(([, value]) => value !== undefined);
  return { at: point.at, ...Object.fromEntries(known) };
}

import { type EventFormat, readEvent, type Stored, writeEvent } from '../../src/contracts/event.js';
import type { Token } from '../../src/contracts/names.js';
import type {
  Appended,
  AppendOptions,
  EventLog,
  EventRemoval,
  ReadRange,
  ReadResult,
  Unwatch,
} from '../../src/engine/ports/session-log.js';
import { DEFAULT_DEDUPE_LAST, RecentIds } from './recent-ids.js';

export interface MemoryEventLogOptions {
  /** Increment between sequences: above 1, each append leaves a gap. Default: 1. */
  readonly sequenceStep?: number;
  /** All keys share one sequence, as in the stream of a shard. Default: one per key. */
  readonly shared?: boolean;
  /** Events per key whose message ids are remembered; 0 disables deduplication. Default: 100,000. */
  readonly dedupeLast?: number;
}

interface Message {
  readonly sequence: number;
  readonly path: string;
  readonly data: Uint8Array;
}

interface Log {
  readonly messages: Message[];
  readonly ids: RecentIds;
  readonly epoch: string;
}

/** Event logs in memory. Events are stored as bytes, as on a stream: no caller shares an object with the log. */
export class MemoryEventLog<Event extends { readonly type: string }>
  implements EventLog<Event>, EventRemoval
{
  readonly #format: EventFormat<Event>;
  readonly #logs = new Map<Token, Log>();
  readonly #watchers = new Map<Token, Set<() => void>>();
  readonly #step: number;
  readonly #dedupeLast: number;
  readonly #shared: boolean;
  readonly #ofAll = new Set<(key: Token) => void>();
  #last = 0;
  #epochs = 0;

  constructor(
    format: EventFormat<Event>,
    { sequenceStep = 1, shared = false, dedupeLast = DEFAULT_DEDUPE_LAST }: MemoryEventLogOptions = {},
  ) {
    this.#format = format;
    this.#step = sequenceStep;
    this.#shared = shared;
    this.#dedupeLast = dedupeLast;
  }

  async append(key: Token, event: Event, options: AppendOptions = {}): Promise<Appended> {
    const { expectedSequence, messageId } = options;
    const log = this.#logs.get(key);
    const path = this.#format.pathOf(event);
    const expectedAt = this.#format.expectedAt(path) ?? path;
    // The expectation is checked before the message id, as on a stream with one replica.
    if (expectedSequence !== undefined && expectedSequence !== newestAt(log, expectedAt))
      return { outcome: 'conflict' };
    const earlier = messageId === undefined ? undefined : log?.ids.get(messageId);
    if (earlier !== undefined) return { outcome: 'appended', sequence: earlier };
    const sequence = this.inject(key, writeEvent(this.#format, key, event, expectedSequence), path);
    if (messageId !== undefined) this.#logs.get(key)?.ids.add(messageId, sequence);
    return { outcome: 'appended', sequence };
  }

  watchAll(onEvent: (key: Token) => void): Unwatch {
    this.#ofAll.add(onEvent);
    return () => this.#ofAll.delete(onEvent);
  }

  remove(key: Token): void {
    this.#logs.delete(key);
  }

  #made(): Log {
    this.#epochs += 1;
    return { messages: [], ids: new RecentIds(this.#dedupeLast), epoch: String(this.#epochs) };
  }

  /**
   * Stores arbitrary bytes under a key, as a foreign publisher would, and returns their sequence. Default: at the place of the
   * event that they hold, or elsewhere.
   */
  inject(key: Token, data: Uint8Array, at?: string): number {
    const injected = at === undefined ? readEvent(this.#format, key, data)?.event : undefined;
    const path = at ?? (injected === undefined ? 'x' : this.#format.pathOf(injected));
    const log = this.#logs.get(key) ?? this.#made();
    this.#logs.set(key, log);
    const sequence = (this.#shared ? this.#last : lastOf(log)) + this.#step;
    this.#last = sequence;
    log.messages.push({ sequence, path, data: data.slice() });
    for (const watcher of this.#watchers.get(key) ?? []) queueMicrotask(watcher);
    for (const watcher of this.#ofAll) queueMicrotask(() => watcher(key));
    return sequence;
  }

  async newest(key: Token): Promise<number> {
    return (await this.read(key, { after: 0 })).through;
  }

  async read(
    key: Token,
    { after, through = Number.MAX_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER, at = '>' }: ReadRange,
  ): Promise<ReadResult<Event>> {
    const { messages = [], epoch } = this.#logs.get(key) ?? {};
    const events: Stored<Event>[] = [];
    let read = 0;
    let last = after;
    let newestCommand: number | undefined;
    for (const { sequence, path, data } of messages.slice(
      messages.findLastIndex((m) => m.sequence <= after) + 1,
    )) {
      if (sequence > through || read >= limit) break;
      if (!matches(at, path)) continue;
      const stored = readEvent(this.#format, key, data);
      if ((this.#format.expectedAt(path) ?? path) !== path) newestCommand = sequence;
      if (stored !== undefined) events.push({ sequence, ...stored });
      read += 1;
      last = sequence;
    }
    return {
      events,
      through: last,
      skipped: read - events.length,
      ...(newestCommand !== undefined && { newestCommand }),
      ...(epoch !== undefined && { epoch }),
    };
  }

  async removeBefore(key: Token, sequence: number, _?: () => void): Promise<number> {
    const messages = this.#logs.get(key)?.messages ?? [];
    const kept = messages.filter((message) => message.sequence >= sequence);
    return messages.splice(0, messages.length, ...kept).length - kept.length;
  }

  watch(key: Token, onEvent: () => void): Unwatch {
    const watchers = this.#watchers.get(key) ?? new Set();
    this.#watchers.set(key, watchers);
    // A separate function, so that one callback may watch twice; called after the append, unless unwatched.
    const watcher = () => {
      if (watchers.has(watcher)) onEvent();
    };
    watchers.add(watcher);
    return () => {
      watchers.delete(watcher);
    };
  }

  /** Returns the newest message at each of some places. */
  protected newestOf(key: Token, filter: string) {
    const newest = new Map<string, { sequence: number; event: Event | undefined }>();
    for (const { sequence, path, data } of this.#logs.get(key)?.messages ?? [])
      if (matches(filter, path))
        newest.set(path, { sequence, event: readEvent(this.#format, key, data)?.event });
    return [...newest].map(([path, message]) => ({ path, ...message }));
  }

  /** Returns all keys that have an event, sorted. */
  keys(): Token[] {
    return [...this.#logs.keys()].sort();
  }
}

/** Matches the last tokens of a subject as NATS does: a filter ends in a wildcard, or has none. */
function matches(filter: string, path: string): boolean {
  return /[>*]$/.test(filter) ? path.startsWith(filter.slice(0, -1)) : path === filter;
}

function newestAt(log: Log | undefined, filter: string): number {
  return log?.messages.findLast(({ path }) => matches(filter, path))?.sequence ?? 0;
}

function lastOf(log: Log | undefined): number {
  return log?.messages.at(-1)?.sequence ?? 0;
}

import type { Token } from '../contracts/names.js';
import { parseSessionEvent, type SessionEvent, type StoredEvent } from '../contracts/session-events.js';
import type { Appended, AppendOptions, ReadRange, ReadResult, Unwatch } from '../ports/event-log.js';
import type { SessionLog } from '../ports/session-log.js';
import { DEFAULT_DEDUPE_LAST, RecentIds } from './recent-ids.js';

export interface MemorySessionLogOptions {
  /** Distance from one sequence to the next: above 1, each append leaves a gap. Default: 1. */
  readonly sequenceStep?: number;
  /** Events of a session whose message ids are remembered; 0 stores every repetition. Default: 100,000. */
  readonly dedupeLast?: number;
}

interface Log {
  readonly messages: { readonly sequence: number; readonly data: Uint8Array }[];
  readonly ids: RecentIds;
}

/** The session log in memory. Events are kept as bytes, as on a stream: nobody shares an object with the log. */
export class MemorySessionLog implements SessionLog {
  readonly #logs = new Map<Token, Log>();
  readonly #watchers = new Map<Token, Set<() => void>>();
  readonly #step: number;
  readonly #dedupeLast: number;

  constructor({ sequenceStep = 1, dedupeLast = DEFAULT_DEDUPE_LAST }: MemorySessionLogOptions = {}) {
    this.#step = sequenceStep;
    this.#dedupeLast = dedupeLast;
  }

  async append(session: Token, event: SessionEvent, options: AppendOptions = {}): Promise<Appended> {
    const { expectedSequence, messageId } = options;
    const log = this.#logs.get(session);
    // As on a stream with one replica: the expectation is checked before the message id.
    if (expectedSequence !== undefined && expectedSequence !== lastOf(log)) return { outcome: 'conflict' };
    const earlier = messageId === undefined ? undefined : log?.ids.get(messageId);
    if (earlier !== undefined) return { outcome: 'appended', sequence: earlier, duplicate: true };
    const sequence = this.inject(session, new TextEncoder().encode(JSON.stringify(event)));
    if (messageId !== undefined) this.#logs.get(session)?.ids.add(messageId, sequence);
    return { outcome: 'appended', sequence, duplicate: false };
  }

  /** Stores any bytes on a session, as a stranger's publish would, and gives their sequence. */
  inject(session: Token, data: Uint8Array): number {
    const log = this.#logs.get(session) ?? { messages: [], ids: new RecentIds(this.#dedupeLast) };
    this.#logs.set(session, log);
    const sequence = lastOf(log) + this.#step;
    log.messages.push({ sequence, data: data.slice() });
    for (const watcher of this.#watchers.get(session) ?? []) queueMicrotask(watcher);
    return sequence;
  }

  async read(
    session: Token,
    { after, through = Number.MAX_SAFE_INTEGER }: ReadRange,
  ): Promise<ReadResult<SessionEvent>> {
    const messages = this.#logs.get(session)?.messages ?? [];
    const events: StoredEvent[] = [];
    let read = 0;
    let last = after;
    for (const { sequence, data } of messages.slice(messages.findLastIndex((m) => m.sequence <= after) + 1)) {
      if (sequence > through) break;
      const event = parseSessionEvent(data);
      if (event !== undefined) events.push({ sequence, event });
      read += 1;
      last = sequence;
    }
    return { events, through: last, skipped: read - events.length };
  }

  watch(session: Token, onEvent: () => void): Unwatch {
    const watchers = this.#watchers.get(session) ?? new Set();
    this.#watchers.set(session, watchers);
    // A function of its own, so that one callback may watch twice; told after the append, and not once unwatched.
    const watcher = () => {
      if (watchers.has(watcher)) onEvent();
    };
    watchers.add(watcher);
    return () => {
      watchers.delete(watcher);
    };
  }

  async sessions(): Promise<Token[]> {
    return [...this.#logs.keys()].sort();
  }
}

function lastOf(log: Log | undefined): number {
  return log?.messages.at(-1)?.sequence ?? 0;
}

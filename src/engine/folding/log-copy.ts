import { isDeepStrictEqual } from 'node:util';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { StoredEvent } from '../../contracts/session-events.js';
import {
  CanonicalState,
  CopiedSequences,
  copiedEvent,
  namesSequences,
} from '../../memory/session/copied-events.js';
import type { SessionLog } from '../ports/session-log.js';

/**
 * Copies the events of a session to another log: in another layout, under another name, or on another server.
 *
 * An interrupted copy can be resumed: existing events are compared and missing ones appended. Only one copy of a session may
 * run at a time, and no other process may append to the new log.
 */
interface LogCopyPorts {
  readonly from: Pick<SessionLog, 'read'>;
  readonly to: Pick<SessionLog, 'read' | 'append'>;
}

interface LogCopy {
  /** `differs`: the new log is not a prefix of the old one, and was not changed. */
  readonly outcome: 'copied' | 'differs';
  readonly events: number;
  /** Sequence of its newest event; 0 for none. */
  readonly sequence: number;
}

const PAGE = 500;
/** Concurrent appends. */
const IN_FLIGHT = 256;

/**
 * Appends the missing events to the new log, oldest first.
 *
 * @param as name of the session in the new log. Default: the same
 * @throws the ports' errors; the copy is then incomplete, or `differs`
 */
export async function copyLog(
  { from, to }: LogCopyPorts,
  session: Token,
  as: Token = session,
): Promise<LogCopy> {
  const sequences = new CopiedSequences();
  const copies = eventsOf(to, as);
  const sent = new Appends(to, as, sequences);
  try {
    for await (const stored of eventsOf(from, session)) {
      const copy = sent.hasBegun ? undefined : (await copies.next()).value;
      if (copy === undefined) await sent.append(stored);
      else if (isCopy(copy, stored, sequences)) sequences.add(stored.sequence, copy.sequence);
      else return { outcome: 'differs', events: sequences.count, sequence: 0 };
    }
  } catch (error) {
    // No append may be in flight when the copy is resumed.
    await sent.settle().catch(() => {});
    throw error;
  }
  await sent.settle();
  const isLonger = !sent.hasBegun && (await copies.next()).value !== undefined;
  return {
    outcome: isLonger ? 'differs' : 'copied',
    events: sequences.count,
    sequence: sequences.of(Number.MAX_SAFE_INTEGER),
  };
}

/** Returns true if two logs have the same number of events and fold to the same state, byte for byte. */
export async function isSameSession({ from, to }: LogCopyPorts, session: Token, as: Token = session) {
  const [one, other] = await Promise.all([canonicalLog(from, session), canonicalLog(to, as)]);
  return one.count === other.count && one.text() === other.text();
}

/** Reads the events of a log lazily, oldest first. */
export async function* eventsOf(log: Pick<SessionLog, 'read'>, session: Token): AsyncGenerator<StoredEvent> {
  for (let after = 0, read = PAGE; read >= PAGE; ) {
    const page = await log.read(session, { after, limit: PAGE });
    yield* page.events;
    after = page.through;
    read = page.events.length + page.skipped;
  }
}

async function canonicalLog(log: Pick<SessionLog, 'read'>, session: Token): Promise<CanonicalState> {
  const state = new CanonicalState();
  for await (const stored of eventsOf(log, session)) state.add([stored]);
  return state;
}

/**
 * Copies a log whose events arrive in pages, numbered 1, 2, 3 …. Pages may be repeated, and another process may copy the next
 * one.
 */
export class PagedCopy {
  readonly #to: LogCopyPorts['to'];
  readonly #session: Token;
  readonly #id: string;
  readonly #sequences = new CopiedSequences();

  /** @param id unique to this copy: an event that two processes append at once, because a page was repeated, is stored once */
  constructor(to: LogCopyPorts['to'], session: Token, id: string) {
    this.#to = to;
    this.#session = session;
    this.#id = id;
  }

  /** Number of events known to be in the new log. */
  get count(): number {
    return this.#sequences.count;
  }

  /** Reads events that others have appended, until `count` events are known. */
  async catchUp(count: number): Promise<void> {
    while (this.count < count) {
      const after = this.#sequences.of(this.count);
      const { events } = await this.#to.read(this.#session, { after, limit: PAGE });
      if (events.length === 0) return;
      for (const { sequence } of events) this.#sequences.add(this.count + 1, sequence);
    }
  }

  /** Adds the next events; their numbers must leave no gap. Throws as `copyLog`. */
  async add(events: readonly StoredEvent[]): Promise<LogCopy['outcome']> {
    const [first] = events;
    if (first === undefined) return 'copied';
    const after = this.#sequences.of(first.sequence - 1);
    const { events: held } = await this.#to.read(this.#session, { after, limit: events.length });
    for (const [index, copy] of held.entries()) {
      const event = events[index];
      if (event === undefined || !isCopy(copy, event, this.#sequences)) return 'differs';
      if (event.sequence > this.count) this.#sequences.add(event.sequence, copy.sequence);
    }
    const sent = new Appends(this.#to, this.#session, this.#sequences, this.#id);
    for (const event of events.slice(held.length)) await sent.append(event);
    await sent.settle();
    return 'copied';
  }
}

function isCopy(copy: StoredEvent, stored: StoredEvent, sequences: CopiedSequences): boolean {
  const { event, decided } = copiedEvent(stored, sequences);
  const { sequence: _, event: found, ...place } = copy;
  return isDeepStrictEqual(found, event) && isDeepStrictEqual(place, decided);
}

/** Pipelines appends. An event that refers to sequences waits for the appends before it. */
class Appends {
  readonly #to: LogCopyPorts['to'];
  readonly #session: Token;
  readonly #sequences: CopiedSequences;
  readonly #id: string | undefined;
  #waiting: { readonly from: number; readonly to: Promise<number> }[] = [];
  hasBegun = false;

  constructor(to: LogCopyPorts['to'], session: Token, sequences: CopiedSequences, id?: string) {
    this.#to = to;
    this.#session = session;
    this.#sequences = sequences;
    this.#id = id;
  }

  async append(stored: StoredEvent): Promise<void> {
    // The first append may create the stream: others would overtake it.
    const isFirst = !this.hasBegun;
    this.hasBegun = true;
    if (namesSequences(stored) || this.#waiting.length >= IN_FLIGHT) await this.settle();
    const { event, decided } = copiedEvent(stored, this.#sequences);
    // Unique per copy: the server would discard a known id as a duplicate, even if that event was erased.
    const messageId = this.#id === undefined ? {} : { messageId: `${this.#id}:${stored.sequence}` };
    const to = this.#to.append(this.#session, event, { decided, ...messageId }).then((appended) => {
      if (appended.outcome === 'appended') return appended.sequence;
      throw new ThroughlineError('conflict', `session ${this.#session} was written to while it was copied`);
    });
    // Awaited in `settle`; not an unhandled rejection until then.
    to.catch(() => {});
    this.#waiting.push({ from: stored.sequence, to });
    if (isFirst) await this.settle();
  }

  async settle(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    const stored = await Promise.allSettled(waiting.map(({ to }) => to));
    for (const [index, each] of stored.entries()) {
      if (each.status === 'rejected') throw each.reason;
      const last = this.#sequences.of(Number.MAX_SAFE_INTEGER);
      if (each.value <= last)
        throw new ThroughlineError('conflict', `the copy of session ${this.#session} is out of order`);
      this.#sequences.add(waiting[index]?.from ?? 0, each.value);
    }
  }
}

import { jsonOf } from '../../contracts/event.js';
import type { LiveEvents } from '../../contracts/inspector-api.js';
import {
  isToken,
  LEARNINGS_SUBJECTS,
  PROMPTS_SUBJECTS,
  PUBLISHED_EVENTS,
  publishedEvent,
  rejectedSubjects,
  scopedRequest,
  type Token,
} from '../../contracts/names.js';
import type { TimelineEntry, TimelineListed } from '../../contracts/replies/dispatch-result.js';
import { keptPrompt } from '../../contracts/replies/prompt-trace.js';
import { toolSubject } from '../../contracts/request-names.js';
import type { LiveTransport } from '../../engine/ports/clients.js';
import { TailFollower } from '../../engine/runtime/tail-follower.js';
import { promptEntry } from '../../memory/session/timeline-entry.js';

interface Newer {
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** The entries are complete up to this event. */
  readonly sequence: number;
  /** There are more than requested. */
  readonly isCut: boolean;
}

interface FeedOptions {
  readonly transport: LiveTransport;
  readonly newerThan: (session: Token, after: number | undefined) => Promise<Newer>;
  /** Decodes the trace of a compiled prompt; undefined for anything else. */
  readonly promptEntry: (data: Uint8Array) => TimelineEntry | undefined;
}

interface Browser {
  readonly controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  /** The only session that it shows. */
  readonly session: Token | undefined;
}

/** The cursor of a session before its newest event is known. */
const UNKNOWN = -1;
const HEARTBEAT_MS = 15_000;
/** A browser with more queued is too slow: its stream ends, and it connects again and reloads what it shows. */
const MAX_QUEUED_BYTES = 1024 * 1024;
/** Older prompts are not news. */
const NEWS_MS = 60_000;
/** Throttle per session, except for browsers that follow that session alone. */
const THROTTLE = { everyMs: 30, settledMs: 1000 };

/** Live events for all browsers, from one subscription that exists only while someone watches. */
export class LiveFeed {
  readonly #options: FeedOptions;
  readonly #browsers = new Set<Browser>();
  readonly #followers = new Map<Token, TailFollower<TimelineEntry>>();
  /** Sessions with events while their cursor was unknown. */
  readonly #early = new Set<Token>();
  readonly #changes = this.#throttled('change');
  readonly #prompts = this.#throttled('prompt');
  readonly #learnings = this.#throttled('learning');
  #stops: (() => void)[] = [];

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#browsers.size;
  }

  /** Opens the feed of one more browser: for one session or all. */
  open(session?: Token): ReadableStream<Uint8Array<ArrayBuffer>> {
    let browser: Browser;
    const join = (controller: Browser['controller']) => {
      browser = { controller, session };
      this.#browsers.add(browser);
      if (this.#browsers.size === 1) this.#listen();
      if (session !== undefined && !this.#followers.has(session))
        this.#followers.set(session, this.#follow(session));
      this.#send(browser, this.#state());
    };
    return new ReadableStream(
      { start: join, cancel: () => this.#leave(browser) },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_QUEUED_BYTES }),
    );
  }

  close(): void {
    for (const { controller } of this.#browsers) controller.close();
    this.#browsers.clear();
    this.#stopListening();
  }

  #send(browser: Browser, message: Uint8Array<ArrayBuffer>): void {
    const { controller } = browser;
    controller.enqueue(message);
    if ((controller.desiredSize ?? 0) > 0) return;
    controller.close();
    this.#leave(browser);
  }

  #listen(): void {
    const { transport } = this.#options;
    const beat = setInterval(() => this.#toEach(HEARTBEAT), HEARTBEAT_MS);
    this.#stops = [
      () => clearInterval(beat),
      transport.onState((connected) => this.#stateChanged(connected)),
      // The subjects of the other layout stay silent.
      ...Object.values(PUBLISHED_EVENTS).map((subjects) =>
        transport.listen(subjects, (subject) => this.#happened(subject)),
      ),
      transport.listen(PROMPTS_SUBJECTS, (subject, data) => this.#compiled(subject, data)),
      transport.listen(rejectedSubjects(undefined, undefined), (subject) => this.#rejected(subject)),
      transport.listen(LEARNINGS_SUBJECTS, (subject) => this.#learned(subject)),
    ];
  }

  #stopListening(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    for (const throttled of [this.#changes, this.#prompts, this.#learnings]) throttled.clear();
    for (const follower of this.#followers.values()) follower.close();
    this.#followers.clear();
    this.#early.clear();
  }

  #leave(browser: Browser): void {
    this.#browsers.delete(browser);
    const { session } = browser;
    if (this.#browsers.size === 0) this.#stopListening();
    else if (session !== undefined) this.#unfollow(session);
  }

  #unfollow(session: Token): void {
    if ([...this.#browsers].some((each) => each.session === session)) return;
    this.#followers.get(session)?.close();
    this.#followers.delete(session);
  }

  #follow(session: Token): TailFollower<TimelineEntry> {
    const follower = new TailFollower<TimelineEntry>({
      after: UNKNOWN,
      read: async (after) => {
        const isFirst = after === UNKNOWN;
        const newer = await this.#options.newerThan(session, isFirst ? undefined : after);
        // The first answer may hold an early event already.
        const isEarly = isFirst && this.#early.delete(session);
        if (newer.isCut || isEarly) this.#toThoseOf(session, sent('lost', {}));
        return { items: newer.isCut ? [] : newer.entries, through: newer.sequence, isMore: false };
      },
      tell: async (entries) => {
        for (const entry of entries) {
          const { type, at, sequence } = entry;
          this.#toThoseOf(session, sent('change', { session, type, at, sequence, entry }));
        }
      },
      failed: () => {},
    });
    follower.poke();
    return follower;
  }

  #happened(subject: string): void {
    const event = publishedEvent(subject);
    if (event === undefined) return;
    const { session, type } = event;
    this.#changes.push(session, { session, type, at: now() });
    const follower = this.#followers.get(session);
    if (follower?.at === UNKNOWN) this.#early.add(session);
    follower?.poke();
  }

  #compiled(subject: string, data: Uint8Array): void {
    const [, session] = subject.split('.');
    const entry = this.#options.promptEntry(data);
    if (!isToken(session) || entry === undefined) return;
    // Rewriting the stream publishes old prompts again.
    if (Date.now() - Date.parse(entry.at) > NEWS_MS) return;
    this.#prompts.push(session, { session, entry });
    if (this.#followers.has(session)) this.#toThoseOf(session, sent('prompt', { session, entry }));
  }

  #rejected(subject: string): void {
    const [, session, role] = subject.split('.');
    const of = {
      ...(isToken(session) && session !== '_' && { session }),
      ...(role !== '_' && role && { role }),
    };
    this.#toEach(sent('rejected', { ...of, at: now() }));
  }

  #learned(subject: string): void {
    const [, project] = subject.split('.');
    if (isToken(project)) this.#learnings.push(project, { project, at: now() });
  }

  #stateChanged(connected: boolean): void {
    this.#toEach(this.#state());
    // Events may have been missed meanwhile: the page reloads what it shows.
    if (connected) for (const follower of this.#followers.values()) follower.poke();
  }

  #state(): Uint8Array<ArrayBuffer> {
    return sent('state', { connected: this.#options.transport.isConnected() });
  }

  #throttled<Name extends 'change' | 'prompt' | 'learning'>(name: Name): KeyThrottle<LiveEvents[Name]> {
    return new KeyThrottle({ ...THROTTLE, tell: (event) => this.#toOthers(sent(name, event), name) });
  }

  #toEach(message: Uint8Array<ArrayBuffer>): void {
    for (const browser of this.#browsers) this.#send(browser, message);
  }

  #toThoseOf(session: Token, message: Uint8Array<ArrayBuffer>): void {
    for (const browser of this.#browsers) if (browser.session === session) this.#send(browser, message);
  }

  /** Sends to browsers that watch all sessions; learnings belong to no session and go to all. */
  #toOthers(message: Uint8Array<ArrayBuffer>, name: keyof LiveEvents): void {
    for (const browser of this.#browsers) {
      if (browser.session === undefined || name === 'learning') this.#send(browser, message);
    }
  }
}

function now(): string {
  return new Date().toISOString();
}

const encoder = new TextEncoder();

export function sent<Name extends keyof LiveEvents>(
  event: Name,
  data: LiveEvents[Name],
): Uint8Array<ArrayBuffer> {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Keeps proxies from closing an idle stream. */
const HEARTBEAT = encoder.encode(': still there\n\n');

const MAX_TOLD = 200;

export function newerBy(
  transport: LiveTransport,
  timeoutMs: number,
): (session: Token, after: number | undefined) => Promise<Newer> {
  return async (session, after) => {
    const range = after === undefined ? { limit: 1 } : { after, limit: MAX_TOLD };
    // Prompts are announced separately.
    const kinds = ['result', 'rejected', 'command', 'trace'];
    const body = { session, kinds, ...range };
    const subject = scopedRequest(toolSubject('timeline-list'), body);
    const { entries, sequence, next } = (await transport.request(subject, body, timeoutMs)) as TimelineListed;
    if (after === undefined) return { entries: [], sequence, isCut: false };
    return { entries: entries.toReversed(), sequence, isCut: next !== undefined };
  };
}

export function promptEntryOf(data: Uint8Array): TimelineEntry | undefined {
  const kept = keptPrompt.safeParse(jsonOf(data)).data;
  return kept && promptEntry(kept);
}

interface ThrottleOptions<Value> {
  readonly everyMs: number;
  /** Quiet time after which the newest value is repeated, in milliseconds. */
  readonly settledMs: number;
  readonly tell: (value: Value) => void;
}

interface Held<Value> {
  readonly told: Value;
  readonly untold?: Value;
  readonly isSettling: boolean;
  readonly timer: NodeJS.Timeout;
}

/**
 * Throttles values by key: the first immediately, then only the newest per interval. After a quiet period the last value is
 * repeated, because it may have been announced before it was stored.
 */
export class KeyThrottle<Value> {
  readonly #options: ThrottleOptions<Value>;
  readonly #held = new Map<string, Held<Value>>();

  constructor(options: ThrottleOptions<Value>) {
    this.#options = options;
  }

  push(key: string, value: Value): void {
    const held = this.#held.get(key);
    if (held?.isSettling === false) {
      this.#held.set(key, { ...held, untold: value });
    } else {
      clearTimeout(held?.timer);
      this.#tell(key, value);
    }
  }

  clear(): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
  }

  #tell(key: string, value: Value): void {
    const timer = setTimeout(() => this.#rested(key), this.#options.everyMs);
    this.#held.set(key, { told: value, isSettling: false, timer });
    this.#options.tell(value);
  }

  #rested(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    if (held.untold !== undefined) {
      this.#tell(key, held.untold);
      return;
    }
    const timer = setTimeout(() => {
      this.#held.delete(key);
      this.#options.tell(held.told);
    }, this.#options.settledMs);
    this.#held.set(key, { told: held.told, isSettling: true, timer });
  }
}

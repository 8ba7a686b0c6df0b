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
import { keptPrompt } from '../../contracts/replies/prompt-trace.js';
import type { TimelineEntry, TimelineListed } from '../../contracts/replies/timeline-reply.js';
import { toolSubject } from '../../contracts/request-names.js';
import type { LiveTransport } from '../../engine/ports/clients.js';
import { promptEntry } from '../../memory/session/timeline-entry.js';
import { BrowserQueue, type QueueLimits } from './browser-queue.js';
import { KeyThrottle } from './key-throttle.js';
import { type Newer, SessionFollower } from './session-follower.js';

interface FeedOptions {
  readonly transport: LiveTransport;
  /** The entries of a session's timeline behind an event. */
  readonly newerThan: (session: Token, after: number | undefined) => Promise<Newer>;
  /** The entry of a compiled prompt, as its trace was sent; undefined for anything else. */
  readonly promptEntry: (data: Uint8Array) => TimelineEntry | undefined;
  readonly limits?: QueueLimits;
}

interface Browser {
  readonly queue: BrowserQueue;
  /** It shows this one alone. */
  readonly session: Token | undefined;
}

const HEARTBEAT_MS = 15_000;
/** A prompt that was compiled longer ago is not news. */
const NEWS_MS = 60_000;
/** Of one session a browser hears no more often, unless it follows that session alone. */
const THROTTLE = { everyMs: 30, settledMs: 1000 };

/**
 * What happens, for all browsers together. There is one subscription, however many watch, and none while nobody does.
 */
export class LiveFeed {
  readonly #options: FeedOptions;
  readonly #browsers = new Set<Browser>();
  readonly #followers = new Map<Token, SessionFollower>();
  readonly #changes = this.#throttled('change');
  readonly #prompts = this.#throttled('prompt');
  readonly #learnings = this.#throttled('learning');
  #stops: (() => void)[] = [];

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** How many browsers watch. */
  get size(): number {
    return this.#browsers.size;
  }

  /** Bytes that wait for browsers, of all together. */
  get waitingBytes(): number {
    return [...this.#browsers].reduce((sum, { queue }) => sum + queue.waiting.bytes, 0);
  }

  /** The feed for one more browser: of one session, or of all. */
  open(session?: Token): ReadableStream<Uint8Array<ArrayBuffer>> {
    const queue = new BrowserQueue(
      () => [sent('lost', {}), this.#state()],
      () => this.#leave(browser),
      this.#options.limits,
    );
    const browser: Browser = { queue, session };
    this.#browsers.add(browser);
    if (this.#browsers.size === 1) this.#listen();
    if (session !== undefined && !this.#followers.has(session))
      this.#followers.set(session, this.#follow(session));
    queue.push(this.#state());
    return queue.stream;
  }

  /** Ends every stream. */
  close(): void {
    for (const { queue } of this.#browsers) queue.close();
    this.#browsers.clear();
    this.#stopListening();
  }

  #listen(): void {
    const { transport } = this.#options;
    const beat = setInterval(() => this.#toEach(HEARTBEAT), HEARTBEAT_MS);
    this.#stops = [
      () => clearInterval(beat),
      transport.onState((connected) => this.#stateChanged(connected)),
      // Nothing is published under those of the layout that the installation does not have.
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

  #follow(session: Token): SessionFollower {
    return new SessionFollower({
      ask: (after) => this.#options.newerThan(session, after),
      tell: (entry) => {
        const { type, at, sequence } = entry;
        this.#toThoseOf(session, sent('change', { session, type, at, sequence, entry }));
      },
      lost: () => this.#toThoseOf(session, sent('lost', {})),
    });
  }

  #happened(subject: string): void {
    const event = publishedEvent(subject);
    if (event === undefined) return;
    const { session, type } = event;
    this.#changes.push(session, { session, type, at: now() });
    this.#followers.get(session)?.poke();
  }

  #compiled(subject: string, data: Uint8Array): void {
    const [, session] = subject.split('.');
    const entry = this.#options.promptEntry(data);
    if (!isToken(session) || entry === undefined) return;
    // Where the stream is written again, older prompts are stored once more.
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
    // What happened meanwhile is not known: the page asks again for what it shows.
    if (connected) for (const follower of this.#followers.values()) follower.poke();
  }

  #state(): Uint8Array {
    return sent('state', { connected: this.#options.transport.isConnected() });
  }

  #throttled<Name extends 'change' | 'prompt' | 'learning'>(name: Name): KeyThrottle<LiveEvents[Name]> {
    return new KeyThrottle({ ...THROTTLE, tell: (event) => this.#toOthers(sent(name, event), name) });
  }

  #toEach(message: Uint8Array): void {
    for (const { queue } of this.#browsers) queue.push(message);
  }

  #toThoseOf(session: Token, message: Uint8Array): void {
    for (const browser of this.#browsers) if (browser.session === session) browser.queue.push(message);
  }

  /** To those that watch all sessions; learnings belong to no session, so all hear of them. */
  #toOthers(message: Uint8Array, name: keyof LiveEvents): void {
    for (const browser of this.#browsers) {
      if (browser.session === undefined || name === 'learning') browser.queue.push(message);
    }
  }
}

function now(): string {
  return new Date().toISOString();
}

const encoder = new TextEncoder();

/** One event as it is sent. */
export function sent<Name extends keyof LiveEvents>(event: Name, data: LiveEvents[Name]): Uint8Array {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Keeps proxies from ending a stream that is quiet. */
const HEARTBEAT = encoder.encode(': still there\n\n');

/** Most entries that are told one by one. */
const MAX_TOLD = 200;

/** Asks for the timeline of a session behind an event; without one only for where it stands. */
export function newerBy(
  transport: LiveTransport,
  timeoutMs: number,
): (session: Token, after: number | undefined) => Promise<Newer> {
  return async (session, after) => {
    const range = after === undefined ? { limit: 1 } : { after, limit: MAX_TOLD };
    // Prompts are told of by themselves.
    const kinds = ['result', 'rejected', 'command', 'trace'];
    const body = { session, kinds, ...range };
    const subject = scopedRequest(toolSubject('timeline-list'), body);
    const { entries, sequence, next } = (await transport.request(subject, body, timeoutMs)) as TimelineListed;
    return { entries: entries.toReversed(), sequence, isCut: next !== undefined };
  };
}

/** The entry of a compiled prompt, from the trace that it leaves; undefined for anything else. */
export function promptEntryOf(data: Uint8Array): TimelineEntry | undefined {
  const kept = keptPrompt.safeParse(jsonOf(data)).data;
  return kept && promptEntry(kept);
}

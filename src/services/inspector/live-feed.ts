import type { LiveEvents } from '../../contracts/inspector-api.js';
import * as names from '../../contracts/names.js';
import type { LiveTransport } from '../../engine/ports/client-transport.js';
import { followEvents } from '../../nats/connection/connect-nats.js';

type Browser = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;

const HEARTBEAT_MS = 15_000;
/** A browser with more queued is too slow: its stream ends, and it connects again and reloads what it shows. */
const MAX_QUEUED_BYTES = 1024 * 1024;
const THROTTLE = { everyMs: 30, settledMs: 1000 };

/** Hints for browsers that something happened, subscribed only while someone watches; repeated, as one may come early. */
export class LiveFeed {
  readonly #transport: LiveTransport;
  readonly #browsers = new Set<Browser>();
  readonly #changes = this.#throttled('change');
  readonly #prompts = this.#throttled('prompt');
  readonly #learnings = this.#throttled('learning');
  #stops: (() => void)[] = [];

  constructor(transport: LiveTransport) {
    this.#transport = transport;
  }

  get size(): number {
    return this.#browsers.size;
  }

  /** Opens the feed of one more browser; its tabs share it. */
  open(): ReadableStream<Uint8Array<ArrayBuffer>> {
    let browser: Browser;
    const join = (controller: Browser) => {
      browser = controller;
      this.#browsers.add(browser);
      if (this.#browsers.size === 1) this.#listen();
      this.#send(browser, this.#state());
    };
    return new ReadableStream(
      { start: join, cancel: () => this.#leave(browser) },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_QUEUED_BYTES }),
    );
  }

  close(): void {
    for (const browser of this.#browsers) browser.close();
    this.#browsers.clear();
    this.#stopListening();
  }

  #send(browser: Browser, message: Uint8Array<ArrayBuffer>): void {
    browser.enqueue(message);
    if ((browser.desiredSize ?? 0) > 0) return;
    browser.close();
    this.#leave(browser);
  }

  #listen(): void {
    const transport = this.#transport;
    const beat = setInterval(() => this.#tell(HEARTBEAT), HEARTBEAT_MS);
    this.#stops = [
      () => clearInterval(beat),
      transport.onState(() => this.#tell(this.#state())),
      // The subjects of the other layout stay silent.
      followEvents(transport.listen, (event, subject) => this.#changes.push(subject, event)),
      transport.listen(names.PROMPTS_SUBJECTS, (subject) => {
        const [, session] = subject.split('.');
        if (names.isToken(session)) this.#prompts.push(subject, { session });
      }),
      transport.listen(names.rejectedSubjects(undefined, undefined), (subject) => {
        const [, session] = subject.split('.');
        this.#tell(sent('rejected', names.isToken(session) && session !== '_' ? { session } : {}));
      }),
      transport.listen(names.LEARNINGS_SUBJECTS, (subject) => {
        const [, project] = subject.split('.');
        if (names.isToken(project)) this.#learnings.push(project, { project });
      }),
    ];
  }

  #stopListening(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    for (const throttled of [this.#changes, this.#prompts, this.#learnings]) throttled.clear();
  }

  #leave(browser: Browser): void {
    this.#browsers.delete(browser);
    if (this.#browsers.size === 0) this.#stopListening();
  }

  #state(): Uint8Array<ArrayBuffer> {
    return sent('state', { connected: this.#transport.isConnected() });
  }

  #throttled<Name extends 'change' | 'prompt' | 'learning'>(name: Name): KeyThrottle<LiveEvents[Name]> {
    const tell = (event: LiveEvents[Name]) => this.#tell(sent(name, event));
    return new KeyThrottle({ ...THROTTLE, tell });
  }

  #tell(message: Uint8Array<ArrayBuffer>): void {
    for (const browser of this.#browsers) this.#send(browser, message);
  }
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

interface ThrottleOptions<Value> {
  readonly everyMs: number;
  /** Quiet time after which the newest value is repeated, in milliseconds. */
  readonly settledMs: number;
  readonly tell: (value: Value) => void;
}

/** Throttles values by key: the first at once, then the newest per interval; the last is repeated, as it may come early. */
export class KeyThrottle<Value> {
  readonly #options: ThrottleOptions<Value>;
  readonly #last = new Map<string, { readonly sentAt: number; readonly timer: NodeJS.Timeout }>();

  constructor(options: ThrottleOptions<Value>) {
    this.#options = options;
  }

  push(key: string, value: Value): void {
    const { everyMs, settledMs, tell } = this.#options;
    const last = this.#last.get(key);
    clearTimeout(last?.timer);
    const now = performance.now();
    if (last !== undefined && now < last.sentAt + everyMs) {
      const timer = setTimeout(() => this.push(key, value), last.sentAt + everyMs - now);
      this.#last.set(key, { ...last, timer });
      return;
    }
    tell(value);
    const timer = setTimeout(() => {
      this.#last.delete(key);
      tell(value);
    }, settledMs);
    this.#last.set(key, { sentAt: now, timer });
  }

  clear(): void {
    for (const { timer } of this.#last.values()) clearTimeout(timer);
    this.#last.clear();
  }
}

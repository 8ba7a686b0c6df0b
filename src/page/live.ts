import { computed, signal } from '@preact/signals';
import type { LiveEvents } from '../contracts/inspector-api.js';
import { livePath, loadMe } from './ask.js';

/**
 * One stream of server-sent events for all tabs, because a browser opens only six connections to a server. The tab that holds
 * the lock reads the stream and passes the events on; a hidden tab neither waits for the lock nor listens. Without a secure
 * context there are no locks, and each visible tab has a stream of its own.
 */

type Events = Omit<LiveEvents, 'state'>;
/** `lost`: events were missed, so ask again. */
type LiveEvent =
  | { readonly [Name in keyof Events]: { readonly event: Name } & Events[Name] }[keyof Events]
  | { readonly event: 'lost' };

interface Status {
  readonly server: 'connecting' | 'there' | 'gone';
  /** False while the inspector has lost its NATS server. */
  readonly nats: boolean;
}
const status = signal<Status>({ server: 'connecting', nats: true });

export const connection = computed<'connecting' | 'live' | 'no-server' | 'no-nats'>(() => {
  const { server, nats } = status.value;
  if (server !== 'there') return server === 'gone' ? 'no-server' : 'connecting';
  return nats ? 'live' : 'no-nats';
});

const handlers = new Set<(event: LiveEvent) => void>();

/** Calls the handler for every event. Returns a function that unsubscribes. */
export function onLive(handler: (event: LiveEvent) => void): () => void {
  handlers.add(handler);
  return () => void handlers.delete(handler);
}

/**
 * Calls back when what a view shows may have changed. Returns a function that unsubscribes.
 *
 * @param topic a session, for events that change its figures, `facts:SESSION` for those that change its facts and files, or
 * `event:NAME` for events of one name
 */
export function onChange(topic: string, changed: () => void): () => void {
  return onLive((event) => {
    const about = [`event:${event.event}`];
    if (event.event === 'change') {
      // A trace changes no figure.
      if (!event.type.startsWith('trace.')) about.push(event.session);
      if (/^(?:result$|fact\.|note\.|question\.)/.test(event.type)) about.push(`facts:${event.session}`);
    }
    if (event.event === 'lost' || about.includes(topic)) changed();
  });
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;
const NAME = 'throughline-live';

/** Between tabs: what the leading one has heard, and what the others ask of it. */
type Message = { readonly status: Status } | LiveEvent | { readonly wants: 'status' | 'retry' };

let channel: BroadcastChannel | undefined;
let leaving: AbortController | undefined;
let source: EventSource | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let wait = FIRST_WAIT_MS;
/** True if events were missed since the views loaded. */
let missed = false;
let settle = () => {};
let opened: Promise<void> = Promise.resolve();

/** Resolves once the stream is open, or cannot be: a view that loads then misses no event, and loads once. */
export function whenOpen(): Promise<void> {
  return opened;
}

/** Follows the stream while the page is visible. */
export function followLive(): void {
  document.addEventListener('visibilitychange', () =>
    document.visibilityState === 'visible' ? join() : leave(),
  );
  addEventListener('pagehide', leave);
  addEventListener('pageshow', ({ persisted }) => persisted && join());
  if (document.visibilityState === 'visible') join();
}

function join(): void {
  if (leaving !== undefined) return;
  const leaves = new AbortController();
  leaving = leaves;
  opened = new Promise((resolve) => {
    settle = resolve;
  });
  channel = new BroadcastChannel(NAME);
  channel.onmessage = ({ data }: MessageEvent<Message>) => receive(data);
  channel.postMessage({ wants: 'status' } satisfies Message);
  const lead = () => {
    // A tab that has followed another one may have missed events until its own stream is open.
    missed ||= status.value.server !== 'connecting';
    open();
    return new Promise<void>((resolve) => leaves.signal.addEventListener('abort', () => resolve()));
  };
  if (navigator.locks === undefined) void lead();
  else navigator.locks.request(NAME, { signal: leaves.signal }, lead).catch(() => {});
}

function leave(): void {
  close();
  settle();
  channel?.close();
  channel = undefined;
  leaving?.abort();
  leaving = undefined;
  missed = true;
}

function receive(message: Message): void {
  if ('status' in message) become(message.status);
  else if ('event' in message) emit(message);
  else if (source === undefined && retry === undefined) return;
  else if (message.wants === 'retry') reconnect();
  else channel?.postMessage({ status: status.value } satisfies Message);
}

/** Retries now instead of after the backoff. */
export function reconnect(): void {
  if (source === undefined && retry === undefined) {
    channel?.postMessage({ wants: 'retry' } satisfies Message);
    return;
  }
  wait = FIRST_WAIT_MS;
  close();
  open();
}

function become(next: Status): void {
  const { server, nats } = status.value;
  status.value = next;
  if (next.server === 'connecting') return;
  settle();
  if (next.server === 'gone') {
    missed = true;
    // An EventSource does not report the status: any other request shows if the token was refused.
    if (server !== 'gone') void loadMe();
  } else if (missed || (next.nats && !nats)) {
    missed = false;
    emit({ event: 'lost' });
  }
}

/** Shares what the leading tab has heard with all others. */
function share(message: { readonly status: Status } | LiveEvent): void {
  channel?.postMessage(message satisfies Message);
  receive(message);
}

function open(): void {
  const opening = new EventSource(livePath());
  source = opening;
  opening.addEventListener('open', () => {
    wait = FIRST_WAIT_MS;
    if (missed) channel?.postMessage({ event: 'lost' } satisfies Message);
    share({ status: { ...status.value, server: 'there' } });
  });
  opening.addEventListener('error', () => {
    if (source !== opening) return;
    close();
    retry = setTimeout(open, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    share({ status: { ...status.value, server: 'gone' } });
  });
  opening.addEventListener('state', ({ data }) =>
    share({ status: { server: 'there', nats: JSON.parse(data).connected } }),
  );
  for (const event of ['change', 'prompt', 'rejected', 'learning'] as const) {
    opening.addEventListener(event, ({ data }) => share({ event, ...JSON.parse(data) }));
  }
}

function close(): void {
  clearTimeout(retry);
  retry = undefined;
  source?.close();
  source = undefined;
}

function emit(event: LiveEvent): void {
  for (const handler of [...handlers]) handler(event);
}

/**
 * Runs `work` repeatedly, never twice at once. `now` runs it immediately, or right after the current run; `soon` runs it as
 * soon as `everyMs` have passed since the last run began. Calls during a run cause one more run.
 *
 * @param work never rejects
 */
export function throttled(work: () => Promise<void>, everyMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let running = false;
  let began = -everyMs;
  let stopped = false;
  const runAt = (at: number) => {
    if (stopped || at >= dueAt) return;
    dueAt = at;
    if (running) return;
    clearTimeout(timer);
    timer = setTimeout(() => void start(), Math.max(0, at - performance.now()));
  };
  const start = async () => {
    dueAt = Number.POSITIVE_INFINITY;
    running = true;
    began = performance.now();
    await work();
    running = false;
    const next = dueAt;
    dueAt = Number.POSITIVE_INFINITY;
    runAt(next);
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  return { now: () => runAt(0), soon: () => runAt(began + everyMs), stop };
}

import { computed, signal } from '@preact/signals';
import type { LiveEvents } from '../contracts/inspector-api.js';
import { livePath, loadMe } from './ask.js';

/** A page has a stream of server-sent events while it is visible: a browser opens only six connections to a server. */

type Events = Omit<LiveEvents, 'state'>;
/** `lost`: events were missed, so ask again. */
type LiveEvent =
  | { readonly [Name in keyof Events]: { readonly event: Name } & Events[Name] }[keyof Events]
  | { readonly event: 'lost' };

const server = signal<'connecting' | 'there' | 'gone'>('connecting');
/** False while the inspector has lost its NATS server. */
const nats = signal(true);

export const connection = computed<'connecting' | 'live' | 'no-server' | 'no-nats'>(() => {
  if (server.value !== 'there') return server.value === 'gone' ? 'no-server' : 'connecting';
  return nats.value ? 'live' : 'no-nats';
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
  const follow = () => (document.visibilityState === 'visible' ? join() : leave());
  document.addEventListener('visibilitychange', follow);
  addEventListener('pagehide', leave);
  addEventListener('pageshow', follow);
  follow();
}

function join(): void {
  if (source !== undefined || retry !== undefined) return;
  opened = new Promise((resolve) => {
    settle = resolve;
  });
  open();
}

function leave(): void {
  close();
  settle();
  missed = true;
}

/** Retries now instead of after the backoff. */
export function reconnect(): void {
  wait = FIRST_WAIT_MS;
  close();
  open();
}

function open(): void {
  const opening = new EventSource(livePath());
  source = opening;
  opening.addEventListener('open', () => {
    wait = FIRST_WAIT_MS;
    server.value = 'there';
    settle();
    if (missed) emit({ event: 'lost' });
    missed = false;
  });
  opening.addEventListener('error', () => {
    if (source !== opening) return;
    close();
    retry = setTimeout(open, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    // An EventSource does not report the status: any other request shows if the token was refused.
    if (server.value !== 'gone') void loadMe();
    server.value = 'gone';
    missed = true;
    settle();
  });
  opening.addEventListener('state', ({ data }) => {
    const wasGone = !nats.value;
    nats.value = JSON.parse(data).connected;
    if (wasGone && nats.value) emit({ event: 'lost' });
  });
  for (const event of ['change', 'prompt', 'rejected', 'learning'] as const) {
    opening.addEventListener(event, ({ data }) => emit({ event, ...JSON.parse(data) }));
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

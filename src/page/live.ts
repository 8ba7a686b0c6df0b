import { computed, effect, signal } from '@preact/signals';
import type { LiveEvents } from '../contracts/inspector-api.js';
import { fetchOwn } from './ask.js';
import { route } from './route.js';

/**
 * One stream of server-sent events for the whole page: those of the session on the screen, or of all sessions. It is closed
 * while the page is hidden, because a browser opens only six connections to a server, and a stream occupies one of them.
 */

type Told = Omit<LiveEvents, 'state'>;
/** `lost`: events were missed, so ask again. */
type LiveEvent =
  | { readonly [Name in keyof Told]: { readonly event: Name } & Told[Name] }[keyof Told]
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

/** True for an event that changes the figures of a session: neither a prompt nor a trace does. */
function isFigures(event: LiveEvent): event is LiveEvent & { readonly event: 'change' } {
  return event.event === 'change' && !event.type.startsWith('trace.');
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
    if (isFigures(event)) about.push(event.session);
    if (event.event === 'change' && /^(?:result$|fact\.)/.test(event.type))
      about.push(`facts:${event.session}`);
    if (event.event === 'lost' || about.includes(topic)) changed();
  });
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;

let source: EventSource | undefined;
let scope: string | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let wait = FIRST_WAIT_MS;
/** True if events were missed since the views loaded. */
let missed = false;
let opened: Promise<void> = Promise.resolve();
let settle = () => {};

/** Resolves once the stream is open, or cannot be: a view that loads then misses no event, and loads once. */
export function whenOpen(): Promise<void> {
  return opened;
}

/** Opens the stream, and keeps it open while the page is visible. */
export function followLive(): void {
  effect(() => {
    if (scope === route.value.session) return;
    scope = route.value.session;
    if (source === undefined) return;
    close();
    open();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') return open();
    missed = true;
    close();
  });
  addEventListener('pagehide', close);
  if (document.visibilityState === 'visible') open();
}

/** Retries now instead of after the backoff. */
export function reconnect(): void {
  wait = FIRST_WAIT_MS;
  close();
  open();
}

function open(): void {
  if (source !== undefined) return;
  clearTimeout(retry);
  const opening = new EventSource(
    `/api/live${scope === undefined ? '' : `?session=${encodeURIComponent(scope)}`}`,
  );
  source = opening;
  opened = new Promise((resolve) => {
    settle = resolve;
  });
  opening.addEventListener('open', () => {
    server.value = 'there';
    wait = FIRST_WAIT_MS;
    settle();
    if (missed) emit({ event: 'lost' });
    missed = false;
  });
  opening.addEventListener('error', () => {
    if (source !== opening) return;
    close();
    missed = true;
    server.value = 'gone';
    retry = setTimeout(open, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    // An EventSource does not report the status: any other request shows if the token was refused.
    fetchOwn('/api/me').catch(() => {});
  });
  opening.addEventListener('state', ({ data }) => {
    const before = nats.value;
    nats.value = JSON.parse(data).connected;
    if (nats.value && !before) emit({ event: 'lost' });
  });
  for (const event of ['change', 'prompt', 'rejected', 'learning'] as const) {
    opening.addEventListener(event, ({ data }) => emit({ event, ...JSON.parse(data) }));
  }
}

function close(): void {
  clearTimeout(retry);
  settle();
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

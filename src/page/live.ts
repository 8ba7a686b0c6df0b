import { computed, effect, signal } from '@preact/signals';
import type { LiveEvents } from '../contracts/inspector-api.js';
import { fetchOwn } from './ask.js';
import { route } from './route.js';

/**
 * What happens, as it happens: one stream of server-sent events for the whole page, of the session that is shown or else
 * of all of them. It is closed while the page is hidden, since a browser has only six connections to a server, and a
 * stream holds one of them.
 */

type Told = Omit<LiveEvents, 'state' | 'lost'>;
/** `lost`: something may have been missed, so ask again. It also comes with each new connection. */
type LiveEvent =
  | { readonly [Name in keyof Told]: { readonly event: Name } & Told[Name] }[keyof Told]
  | { readonly event: 'lost' };

/** `server`: whether the inspector is there; `nats`: whether it has its NATS server. */
const server = signal<'connecting' | 'there' | 'gone'>('connecting');
const nats = signal(true);

/** What the page shows of the connection. */
export const connection = computed<'connecting' | 'live' | 'no-server' | 'no-nats'>(() => {
  if (server.value !== 'there') return server.value === 'gone' ? 'no-server' : 'connecting';
  return nats.value ? 'live' : 'no-nats';
});

const handlers = new Set<(event: LiveEvent) => void>();

/** Tells of everything that happens. Returns what ends that. */
export function onLive(handler: (event: LiveEvent) => void): () => void {
  handlers.add(handler);
  return () => void handlers.delete(handler);
}

/** Tells that a session has changed, or may have; `*` for any. Returns what ends that. */
export function onChange(session: string, changed: () => void): () => void {
  return onLive((event) => {
    const about = 'session' in event ? event.session : undefined;
    if (event.event === 'lost' || session === '*' || about === session) changed();
  });
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;

let source: EventSource | undefined;
/** The session of the stream. */
let scope: string | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let wait = FIRST_WAIT_MS;

/** Opens the stream, and keeps it open while the page can be seen. */
export function followLive(): void {
  effect(() => {
    if (scope === route.value.session) return;
    scope = route.value.session;
    if (source === undefined) return;
    close();
    open();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') open();
    else close();
  });
  addEventListener('pagehide', close);
  if (document.visibilityState === 'visible') open();
}

/** Tries again now, where it waits to. */
export function reconnect(): void {
  wait = FIRST_WAIT_MS;
  close();
  open();
}

function open(): void {
  if (source !== undefined) return;
  clearTimeout(retry);
  const own = new EventSource(
    `/api/live${scope === undefined ? '' : `?session=${encodeURIComponent(scope)}`}`,
  );
  source = own;
  own.addEventListener('open', () => {
    server.value = 'there';
    wait = FIRST_WAIT_MS;
    emit({ event: 'lost' });
  });
  own.addEventListener('error', () => {
    if (source !== own) return;
    close();
    server.value = 'gone';
    retry = setTimeout(open, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    // A stream does not say why it was refused: any other request finds out whether the token is.
    fetchOwn('/api/me').catch(() => {});
  });
  own.addEventListener('state', ({ data }) => {
    const before = nats.value;
    nats.value = parsed<'state'>(data).connected;
    if (nats.value && !before) emit({ event: 'lost' });
  });
  own.addEventListener('lost', () => emit({ event: 'lost' }));
  own.addEventListener('change', ({ data }) => emit({ event: 'change', ...parsed<'change'>(data) }));
  own.addEventListener('prompt', ({ data }) => emit({ event: 'prompt', ...parsed<'prompt'>(data) }));
  own.addEventListener('rejected', ({ data }) => emit({ event: 'rejected', ...parsed<'rejected'>(data) }));
  own.addEventListener('learning', ({ data }) => emit({ event: 'learning', ...parsed<'learning'>(data) }));
}

/** The server is of this very version: what it tells has the shape that the contract says. */
function parsed<Name extends keyof LiveEvents>(data: string): LiveEvents[Name] {
  return JSON.parse(data);
}

function close(): void {
  clearTimeout(retry);
  source?.close();
  source = undefined;
}

function emit(event: LiveEvent): void {
  for (const handler of [...handlers]) handler(event);
}

/** Work that is done again and again, never twice at once. */
interface Throttled {
  /** Does it now, or right after the run that is under way. */
  readonly now: () => void;
  /** Does it once more, as soon as enough time has passed since the last run began. */
  readonly soon: () => void;
  readonly stop: () => void;
}

/**
 * Runs `work` at most once in `everyMs`, however often it is wanted; what is wanted while it runs makes one more run.
 *
 * @param work never rejects
 */
export function throttled(work: () => Promise<void>, everyMs: number): Throttled {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false;
  let wanted: 'now' | 'soon' | undefined;
  let began = -everyMs;
  let stopped = false;
  const start = async () => {
    clearTimeout(timer);
    timer = undefined;
    running = true;
    began = performance.now();
    await work();
    running = false;
    const next = wanted;
    wanted = undefined;
    if (next === 'now') now();
    else if (next === 'soon') soon();
  };
  const now = () => {
    if (stopped) return;
    if (running) wanted = 'now';
    else void start();
  };
  const soon = () => {
    if (stopped || timer !== undefined) return;
    if (running) wanted ??= 'soon';
    else timer = setTimeout(() => void start(), Math.max(0, began + everyMs - performance.now()));
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  return { now, soon, stop };
}

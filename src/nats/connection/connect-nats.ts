import {
  type ConnectionOptions,
  connect,
  createInbox,
  Events,
  headers,
  type Msg,
  ErrorCode as NatsCode,
  type NatsConnection,
  NatsError,
  type Subscription,
  type SubscriptionOptions,
} from 'nats';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { PUBLISHED_EVENTS, publishedEvent } from '../../contracts/names.js';
import type { LiveTransport } from '../../engine/ports/client-transport.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { Backoff, limitedWarnings } from '../../engine/runtime/pacing.js';
import { withinDeadline } from '../../shared/deadlines.js';
import { ifPossible, isObject, jsonOf } from '../../shared/text.js';
import { requireSupportedServer } from '../server/server-version.js';
import { type DialOptions, useEndingTransport } from './ending-transport.js';
import { failedWhile } from './failed-while.js';
import { accessOptions, type NatsAccess, type NatsAddress, shownAddress } from './nats-access.js';
import { codeOfReport, connectFault, permissionDenied } from './nats-errors.js';

export type { NatsConnection };

const RECONNECT_WAIT_MS = 250;
const DRAIN_MS = 5000;
/** Maximum size of one write. The client's default is a quarter of that. */
const WRITE_BYTES = 128 * 1024;

export interface NatsConnectOptions {
  readonly url: NatsAddress;
  /** Shown by `nats server report connections`. */
  readonly name: string;
  readonly logger: Logger;
  /** Timeout of the first attempt, in milliseconds. */
  readonly timeoutMs?: number;
  readonly access?: NatsAccess;
}

/**
 * Connects with unlimited reconnects, and checks that the server is supported.
 *
 * @throws ThroughlineError `unavailable` if nothing answers, `auth_failed` for rejected credentials, `tls_failed` for a TLS
 * mismatch, `config_invalid` for unusable access options, `server_unsupported` for an old server or one without JetStream
 */
export async function connectNats(options: NatsConnectOptions): Promise<NatsConnection> {
  const shown = shownAddress(options.url);
  let requiresCertificate = false;
  const joined = typeof options.url === 'object' && 'url' in options.url ? options.url : undefined;
  const settings: ConnectionOptions & DialOptions & { readonly pendingLimit: number } = {
    ...accessOptions(options.url, options.access ?? {}),
    greeted(greeting) {
      requiresCertificate ||= greeting.includes('"tls_verify":true');
    },
    name: options.name,
    timeout: options.timeoutMs ?? 5000,
    maxReconnectAttempts: -1,
    // Called before each attempt, including the first one.
    reconnectDelayHandler() {
      useEndingTransport();
      return RECONNECT_WAIT_MS + Math.random() * RECONNECT_WAIT_MS;
    },
    // A frozen or partitioned server closes nothing: two unanswered pings detect it.
    pingInterval: 5000,
    // Permissions may be changed and restored while we are connected; the client would give up for good.
    ignoreAuthErrorAbort: true,
    // A client option that its types lack.
    pendingLimit: WRITE_BYTES,
  };
  const connection = await connect(settings).catch((cause: unknown) => {
    if (cause instanceof ThroughlineError) throw cause;
    const fault = connectFault(cause, shown, joined);
    if (!requiresCertificate || fault.code !== 'unavailable') throw fault;
    // The server closes the connection after the client considers it established, so the client only sees silence.
    throw new ThroughlineError(
      'tls_failed',
      `the NATS server at ${shown} requires a client certificate that it trusts: check NATS_CERT and NATS_KEY`,
      { cause },
    );
  });
  try {
    const info = connection.info;
    requireSupportedServer(info?.version ?? 'unknown', shown);
    if (info?.jetstream !== true) {
      throw new ThroughlineError(
        'server_unsupported',
        `the NATS server at ${shown} runs without JetStream: start it with -js and a store directory`,
      );
    }
  } catch (error) {
    await connection.close();
    throw error;
  }
  harden(connection, options.logger);
  void logStatus(connection, options.logger);
  if (settings.inboxPrefix !== undefined) setInboxPrefix(connection, settings.inboxPrefix);
  return connection;
}

/** The client does not expose its configuration. */
const inboxPrefixes = new WeakMap<NatsConnection, string>();

export function setInboxPrefix(connection: NatsConnection, prefix: string): void {
  inboxPrefixes.set(connection, prefix);
}

export function newInbox(connection: NatsConnection): string {
  return createInbox(inboxPrefixes.get(connection));
}

/** Flushes for at most five seconds, then closes: the client's own drain never closes if the server is lost. */
export async function closeConnection(connection: NatsConnection): Promise<void> {
  await withinDeadline(
    DRAIN_MS,
    connection.drain().catch(() => {}),
  );
  await connection.close();
}

const USUAL_PAYLOAD = 1024 * 1024;

/** Returns the bytes of the largest message, with its headers; the usual number if the server does not announce it. */
export function maxPayload({ info }: Pick<NatsConnection, 'info'>): number {
  return info?.max_payload ?? USUAL_PAYLOAD;
}

async function logStatus(connection: NatsConnection, logger: Logger): Promise<void> {
  const warn = limitedWarnings(logger, Date.now);
  for await (const { type, data, permissionContext } of connection.status()) {
    if (type === 'disconnect')
      logger.warn({ server: data, code: 'unavailable' }, 'NATS connection lost, reconnecting');
    else if (type === 'reconnect') logger.info({ server: data }, 'NATS connection restored');
    else if (type === 'error') {
      const code = codeOfReport(String(data));
      const fields = { error: data, code, ...permissionContext };
      const message = 'NATS reported an error';
      // A denied service has many subscriptions, and repeats them at each attempt.
      if (permissionContext === undefined) logger.warn(fields, message);
      else warn(fields, message, `${permissionContext.operation} ${permissionContext.subject}`);
    }
  }
}

/**
 * Protects a connection from malformed messages. An exception while the client dispatches a message stops its read loop for
 * good, which only pings detect half a minute later. So neither subscription callbacks nor header parsing may throw.
 */
function harden(connection: NatsConnection, logger: Logger): void {
  lenientHeaders();
  const subscribe = connection.subscribe.bind(connection);
  connection.subscribe = (subject: string, options: SubscriptionOptions = {}): Subscription => {
    const { callback } = options;
    if (callback === undefined) return subscribe(subject, options);
    return subscribe(subject, {
      ...options,
      callback(error, message) {
        try {
          callback(error, message);
        } catch (thrown) {
          logger.error({ subject, code: codeOf(thrown), err: thrown }, 'a message could not be handled');
        }
      },
    });
  };
}

/** Makes header parsing lenient: the server forwards headers unchecked, and the client throws on some. Skips bad ones. */
function lenientHeaders(): void {
  const messageHeaders = headers().constructor;
  if (Reflect.has(messageHeaders, LENIENT)) return;
  const decode: unknown = Reflect.get(messageHeaders, 'decode');
  if (typeof decode !== 'function') return;
  const read = (head: string): unknown =>
    Reflect.apply(decode, messageHeaders, [new TextEncoder().encode(head)]);
  const isReadable = (line: string) => ifPossible(() => read(`\r\n${line}`)) !== undefined;
  const lenient = (bytes: Uint8Array): unknown => {
    try {
      return Reflect.apply(decode, messageHeaders, [bytes]);
    } catch {
      const [version = '', ...lines] = new TextDecoder().decode(bytes).split('\r\n');
      return read([version, ...lines.filter(isReadable)].join('\r\n'));
    }
  };
  Object.defineProperties(messageHeaders, { decode: { value: lenient }, [LENIENT]: { value: true } });
}

const LENIENT = Symbol.for('throughline.lenient-headers');

/** A denied publish or subscription: a protocol error, about which the caller's reply subject is told nothing. */
export interface Denial {
  readonly operation: string;
  readonly subject: string;
  readonly fault: ThroughlineError;
}

/** Calls `listener` for every denial on this connection, until the returned function is called. */
export const onDenied = listenersOf<Denial>(async (connection, toAll) => {
  for await (const { type, data, permissionContext } of connection.status()) {
    if (type !== Events.Error || permissionContext === undefined) continue;
    const { operation, subject } = permissionContext;
    const error = new NatsError(String(data), NatsCode.PermissionsViolation);
    error.permissionContext = permissionContext;
    toAll({ operation, subject, fault: permissionDenied(subject, error) });
  }
});

const FIRST_PAUSE_MS = 250;

export interface ResilientSubscription {
  /** Closes after delivering all earlier messages. */
  drain(): Promise<void>;
  close(): void;
}

/**
 * Subscribes, and resubscribes with backoff whenever the server denies the subscription: permissions may be changed and
 * restored while we are connected, and the client forgets denied subscriptions.
 *
 * @throws the client's error if the connection is closed
 */
export function subscribeResiliently(
  connection: NatsConnection,
  subject: string,
  onMessage: (message: Msg) => void,
): ResilientSubscription {
  const closing = new AbortController();
  let backoff: Backoff | undefined;
  const subscribe = (): Subscription =>
    connection.subscribe(subject, {
      callback(error, message) {
        if (error) void again();
        else {
          backoff = undefined;
          onMessage(message);
        }
      },
    });
  const again = async () => {
    backoff ??= new Backoff(FIRST_PAUSE_MS);
    await backoff.pause(closing.signal);
    if (!closing.signal.aborted && !connection.isDraining() && !connection.isClosed())
      subscription = subscribe();
  };
  let subscription = subscribe();
  return {
    async drain() {
      closing.abort();
      if (!subscription.isClosed()) await subscription.drain();
    },
    close() {
      closing.abort();
      if (!connection.isClosed()) subscription.unsubscribe();
    },
  };
}

/** An announced message may become readable a moment later. */
const SETTLED_MS = 1000;
/** Longest time that a read is spared: by then a stream that was replaced is noticed. */
const SPARED_MS = 5000;
const MOST_ANNOUNCED = 10_000;

/**
 * Tells whether nothing was published for a key since a read began, so that another one would find nothing new. A server by
 * itself announces a message to all before it answers its publisher, and before any request that follows: in a cluster nothing
 * is known.
 */
export class Announcements {
  readonly #connection: NatsConnection;
  readonly #at = new Map<string, number>();
  /** Since when every announcement is heard. */
  #since = Number.POSITIVE_INFINITY;

  constructor(connection: NatsConnection, subjects: string, keyOf: (subject: string) => string | undefined) {
    this.#connection = connection;
    let isDenied = false;
    const hear = async () => {
      await connection.flush();
      if (!isDenied) this.#since = performance.now();
    };
    connection.subscribe(subjects, {
      callback: (denied, message) => {
        if (denied) isDenied = true;
        else this.#heard(keyOf(message.subject) ?? '');
      },
    });
    onConnectionState(connection, (isConnected) => {
      this.#since = Number.POSITIVE_INFINITY;
      if (isConnected) void hear().catch(() => {});
    });
    void hear().catch(() => {});
  }

  /** @param since monotonic time */
  isQuiet(key: string, since: number): boolean {
    const isAlone = this.#connection.info !== undefined && !('cluster' in this.#connection.info);
    const heardAt = this.#at.get(key) ?? Number.NEGATIVE_INFINITY;
    const now = performance.now();
    return isAlone && since > Math.max(this.#since, heardAt + SETTLED_MS) && now < since + SPARED_MS;
  }

  #heard(key: string): void {
    const now = performance.now();
    if (this.#at.size >= MOST_ANNOUNCED) {
      this.#at.clear();
      this.#since = now + SETTLED_MS;
    }
    this.#at.set(key, now);
  }
}

type Listen = LiveTransport['listen'];

/** Listens on a connection, also after a denial, until the returned function is called. */
export function listenerOn(connection: NatsConnection): Listen {
  return (subjects, onMessage) => {
    const subscription = subscribeResiliently(connection, subjects, ({ subject, data }) =>
      onMessage(subject, data),
    );
    return () => subscription.close();
  };
}

/** Calls back for each event of a session as it is published, until the returned function is called. Default: in both layouts. */
export function followEvents(
  listen: Listen,
  onEvent: (event: NonNullable<ReturnType<typeof publishedEvent>>, subject: string) => void,
  layouts: readonly string[] = Object.values(PUBLISHED_EVENTS),
): () => void {
  const stops = layouts.map((subjects) =>
    listen(subjects, (subject) => {
      const event = publishedEvent(subject);
      if (event !== undefined) onEvent(event, subject);
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

type Listener<Said> = (state: Said) => void;

/** Returns a function that adds a listener to a connection and returns its removal. `tell` runs once per connection. */
export function listenersOf<Said>(
  tell: (connection: NatsConnection, toAll: Listener<Said>) => Promise<void>,
): (connection: NatsConnection, listener: Listener<Said>) => () => void {
  const listeners = new WeakMap<NatsConnection, Set<Listener<Said>>>();
  return (connection, listener) => {
    const all = listeners.get(connection) ?? new Set();
    if (!listeners.has(connection)) {
      listeners.set(connection, all);
      void tell(connection, (state) => {
        for (const notify of [...all]) notify(state);
      });
    }
    all.add(listener);
    return () => all.delete(listener);
  };
}

/** Calls `listener` when the connection is lost, closed or restored, until the returned function is called. */
export const onConnectionState = listenersOf<boolean>(async (connection, toAll) => {
  void connection.closed().then(() => toAll(false));
  for await (const { type } of connection.status()) {
    if (type === Events.Disconnect || type === Events.Reconnect) toAll(type === Events.Reconnect);
  }
});

export function watchConnection(connection: NatsConnection) {
  let [connected, disconnects] = [true, 0];
  onConnectionState(connection, (isConnected) => {
    if (connected && !isConnected && !connection.isClosed()) disconnects += 1;
    connected = isConnected;
  });
  return () => ({ connected, server: connection.getServer(), disconnects });
}

/** Calls `listener` after each reconnect: messages in between were missed. */
export function onReconnect(connection: NatsConnection, listener: () => void): () => void {
  return onConnectionState(connection, (isConnected) => {
    if (isConnected) listener();
  });
}

/** Clocks drift by less than a millisecond in this time. */
const ASK_EVERY_MS = 60_000;

/**
 * Opens the server's clock by an existing stream. It is equal for all processes, synchronised once a minute, and follows two
 * clocks in between: `now` is monotonic and never ahead, and `clock` goes on while the machine sleeps. Throws ThroughlineError
 * `unavailable`, `permission_denied`.
 */
export async function openServerClock(connection: NatsConnection, stream: string, timeoutMs: number) {
  /** Server time minus the process' monotonic time, and minus that of the machine. */
  let [zero, behind] = [0, 0];
  const synchronise = async () => {
    const reply = await connection
      .request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: timeoutMs })
      .catch(failedWhile('asking for the time of the server'));
    const answer = jsonOf(reply.data);
    if (!isObject(answer) || typeof answer.ts !== 'string')
      throw new ThroughlineError('unavailable', `the server does not tell its time with stream ${stream}`);
    // A slow answer makes the clock late, never early.
    zero = Date.parse(answer.ts) - performance.now();
    behind = Date.parse(answer.ts) - Date.now();
  };
  await synchronise();
  // Until an answer arrives, the last one is used.
  const again = () => void synchronise().catch(() => {});
  const timer = setInterval(again, ASK_EVERY_MS).unref();
  const unwatch = onReconnect(connection, again);
  return {
    now: () => Math.floor(zero + performance.now()),
    clock: () => new Date(Date.now() + behind).toISOString(),
    close() {
      clearInterval(timer);
      unwatch();
    },
  };
}

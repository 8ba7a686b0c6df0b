import {
  type ConnectionOptions,
  connect,
  createInbox,
  Events,
  headers,
  ErrorCode as NatsCode,
  type NatsConnection,
  NatsError,
  type Subscription,
  type SubscriptionOptions,
} from 'nats';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import type { Logger } from '../../engine/ports/logger.js';
import { limitedWarnings } from '../../engine/runtime/limited-warnings.js';
import { withinDeadline } from '../../shared/deadline.js';
import { requireSupportedServer } from '../server/server-version.js';
import { useEndingTransport } from './ending-transport.js';
import { accessOptions, type NatsAccess } from './nats-access.js';
import { codeOfReport, connectFault, permissionDenied, withoutSecrets } from './nats-errors.js';

export type { NatsConnection };

const GREETING_MS = 2000;
const RECONNECT_WAIT_MS = 250;
/** Longest wait for the server to accept the pending messages. */
const DRAIN_MS = 5000;
/** Bytes that one write takes at most, of what is published together. The client's own limit is a quarter. */
const WRITE_BYTES = 128 * 1024;

export interface NatsConnectOptions {
  /** `nats://host:port`, several separated by commas. */
  readonly url: string;
  /** Shown by `nats server report connections`. */
  readonly name: string;
  readonly logger: Logger;
  /** How long to try at first, in milliseconds. */
  readonly timeoutMs?: number;
  readonly access?: NatsAccess;
}

/**
 * Connects, reconnects without an end, and checks that the server can do what we need.
 *
 * @throws ThroughlineError `unavailable` when nothing answers, `auth_failed` when the server rejected the
 * credentials, `tls_failed` when both do not agree on TLS, `config_invalid` for an access that cannot be used,
 * `server_unsupported` for an old server or one without JetStream
 */
export async function connectNats(options: NatsConnectOptions): Promise<NatsConnection> {
  const settings: ConnectionOptions & { readonly pendingLimit: number } = {
    ...accessOptions(options.url, options.access ?? {}),
    name: options.name,
    timeout: options.timeoutMs ?? 5000,
    maxReconnectAttempts: -1,
    // Asked before each attempt, the first one included.
    reconnectDelayHandler() {
      useEndingTransport();
      return RECONNECT_WAIT_MS + Math.random() * RECONNECT_WAIT_MS;
    },
    // A server that is frozen or cut off closes nothing: two pings without an answer tell.
    pingInterval: 5000,
    // Users that are changed while we are connected may be changed back: the client would give up for good.
    ignoreAuthErrorAbort: true,
    // The client knows this option, and its types do not.
    pendingLimit: WRITE_BYTES,
  };
  const shown = withoutSecrets(options.url);
  const connection = await connect(settings).catch(async (cause: unknown) => {
    const fault = connectFault(cause, shown);
    throw fault.code === 'unavailable'
      ? ((await certificateFault(options.url, shown, cause)) ?? fault)
      : fault;
  });
  try {
    checkServer(connection, shown);
  } catch (error) {
    await connection.close();
    throw error;
  }
  harden(connection, options.logger);
  void logStatus(connection, options.logger);
  const prefix = options.access?.inboxPrefix;
  if (prefix !== undefined) setInboxPrefix(connection, prefix);
  return connection;
}

/** The client does not reveal its configuration. */
const inboxPrefixes = new WeakMap<NatsConnection, string>();

/** Remembers the configuration of a connection. */
export function setInboxPrefix(connection: NatsConnection, prefix: string): void {
  inboxPrefixes.set(connection, prefix);
}

/** A new reply subject of this connection, with the prefix that it was configured with. */
export function newInbox(connection: NatsConnection): string {
  return createInbox(inboxPrefixes.get(connection));
}

/**
 * Sends the pending messages, for at most five seconds, then closes. The client's own drain resolves without closing
 * when the server is lost meanwhile: the connection would go on reconnecting, and keep the process alive, without end.
 */
export async function closeConnection(connection: NatsConnection): Promise<void> {
  await withinDeadline(
    DRAIN_MS,
    connection.drain().catch(() => {}),
  );
  await connection.close();
}

/**
 * A server that does not trust our certificate closes the connection when the client takes it for established: the
 * client only sees that nothing comes. The greeting says whether certificates are asked for.
 */
async function certificateFault(
  url: string,
  shown: string,
  cause: unknown,
): Promise<ThroughlineError | undefined> {
  const { askServer } = await import('../server/server-ready.js');
  for (const server of url.split(',')) {
    const address =
      server
        .trim()
        .split(/[/@\s]/)
        .at(-1) ?? '';
    const [, port] = /:(\d+)$/.exec(address) ?? [];
    const host = port === undefined ? address : address.slice(0, -port.length - 1);
    const info = await askServer(host.replace(/^\[|\]$/g, ''), Number(port ?? 4222), GREETING_MS);
    if (info?.tls_verify !== true) continue;
    return new ThroughlineError(
      'tls_failed',
      `the NATS server at ${shown} requires a client certificate that it trusts: check NATS_CERT and NATS_KEY`,
      { cause },
    );
  }
  return undefined;
}

function checkServer(connection: NatsConnection, url: string): void {
  const info = connection.info;
  requireSupportedServer(info?.version ?? 'unknown', url);
  if (info?.jetstream !== true) {
    throw new ThroughlineError(
      'server_unsupported',
      `the NATS server at ${url} runs without JetStream: start it with -js and a store directory`,
    );
  }
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
      // A service that is denied has many subscriptions, and makes all of them again at each attempt.
      if (permissionContext === undefined) logger.warn(fields, message);
      else warn(fields, message, `${permissionContext.operation} ${permissionContext.subject}`);
    }
  }
}

/**
 * Makes a connection last whatever its peers send. What is thrown while the client hands on a message ends its reading
 * for good: the connection is deaf until pings tell, half a minute later. So no callback of a subscription may throw, nor
 * the client's own look at headers.
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

/**
 * The server passes on headers as they came, and the client throws on some: a value with a lone line break, an invalid
 * name. Unreadable headers are left out.
 */
function lenientHeaders(): void {
  const messageHeaders = headers().constructor;
  if (Reflect.has(messageHeaders, LENIENT)) return;
  const decode: unknown = Reflect.get(messageHeaders, 'decode');
  if (typeof decode !== 'function') return;
  const read = (head: string): unknown =>
    Reflect.apply(decode, messageHeaders, [new TextEncoder().encode(head)]);
  const isReadable = (line: string): boolean => {
    try {
      return read(`\r\n${line}`) !== undefined;
    } catch {
      return false;
    }
  };
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

/**
 * The server answers a publish that it does not permit with an error line of its own, not on the reply subject. Without
 * this, a caller that waits for the reply would learn of it only by the deadline.
 */
export interface Denial {
  /** `publish` or `subscription`. */
  readonly operation: string;
  readonly subject: string;
  readonly fault: ThroughlineError;
}

type Listener = (denial: Denial) => void;

const listeners = new WeakMap<NatsConnection, Set<Listener>>();

/** Calls `listener` for everything that the server denies on this connection, until the returned function is called. */
export function onDenied(connection: NatsConnection, listener: Listener): () => void {
  let all = listeners.get(connection);
  if (all === undefined) {
    all = new Set();
    listeners.set(connection, all);
    void tell(connection, all);
  }
  all.add(listener);
  return () => all.delete(listener);
}

async function tell(connection: NatsConnection, all: ReadonlySet<Listener>): Promise<void> {
  for await (const { type, data, permissionContext } of connection.status()) {
    if (type !== Events.Error || permissionContext === undefined) continue;
    const { operation, subject } = permissionContext;
    const error = new NatsError(String(data), NatsCode.PermissionsViolation);
    error.permissionContext = permissionContext;
    const denial: Denial = { operation, subject, fault: permissionDenied(subject, error) };
    for (const listener of [...all]) listener(denial);
  }
}

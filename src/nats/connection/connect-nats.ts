import { createConnection, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
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
import { setTransportFactory } from 'nats/lib/nats-base-client/internal_mod.js';
import { NodeTransport, nodeResolveHost } from 'nats/lib/src/node_transport.js';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import type { Logger } from '../../engine/ports/clients.js';
import { limitedWarnings } from '../../engine/runtime/batched.js';
import { withinDeadline } from '../../shared/backoff.js';
import { requireSupportedServer } from '../server/server-version.js';
import { listenersOf } from './connection-states.js';
import { accessOptions, type NatsAccess } from './nats-access.js';
import { codeOfReport, connectFault, permissionDenied, withoutSecrets } from './nats-errors.js';

export type { NatsConnection };

const GREETING_MS = 2000;
const GREETED_WITHIN_MS = 800;
const RECONNECT_WAIT_MS = 250;
/** Longest wait for flushing pending messages. */
const DRAIN_MS = 5000;
/** Maximum size of one write. The client's default is a quarter of that. */
const WRITE_BYTES = 128 * 1024;

export interface NatsConnectOptions {
  /** `nats://host:port`, several separated by commas. */
  readonly url: string;
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
  const settings: ConnectionOptions & { readonly pendingLimit: number } = {
    ...accessOptions(options.url, options.access ?? {}),
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
  const shown = withoutSecrets(options.url);
  const connection = await connect(settings).catch(async (cause: unknown) => {
    if (cause instanceof ThroughlineError) throw cause;
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

/** The client does not expose its configuration. */
const inboxPrefixes = new WeakMap<NatsConnection, string>();

export function setInboxPrefix(connection: NatsConnection, prefix: string): void {
  inboxPrefixes.set(connection, prefix);
}

/** Creates a reply subject with the configured prefix. */
export function newInbox(connection: NatsConnection): string {
  return createInbox(inboxPrefixes.get(connection));
}

/**
 * Flushes for at most five seconds, then closes. The client's own drain resolves without closing if the server is lost: the
 * connection would reconnect forever and keep the process alive.
 */
export async function closeConnection(connection: NatsConnection): Promise<void> {
  await withinDeadline(
    DRAIN_MS,
    connection.drain().catch(() => {}),
  );
  await connection.close();
}

/**
 * Detects a rejected client certificate. The server closes the connection after the client considers it established, so the
 * client only sees silence. The server's INFO tells if certificates are required.
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
 * A denied publish or subscription. The server reports it as a protocol error and not on the reply subject, so a caller that
 * waits for the reply would only time out.
 */
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

interface Address {
  readonly hostname: string;
  readonly port: number;
}

/**
 * The client's transport, which also closes the sockets of failed attempts. The original leaks the socket of an attempt that
 * timed out waiting for the server's greeting, and a frozen server thereby keeps the process alive.
 */
class EndingTransport extends NodeTransport {
  #dialled: Socket | undefined;
  #isTlsFirst = false;

  override async dial({ port, hostname }: Address): Promise<Socket> {
    const socket = createConnection(port, hostname);
    this.#dialled = socket;
    socket.setNoDelay(true);
    let fault: Error | undefined;
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', (error) => {
        fault = error;
      });
      socket.once('close', () => reject(fault));
    });
    socket.removeAllListeners();
    // With `handshakeFirst` the server is silent until the client has begun.
    if (!this.#isTlsFirst) await greetingOf(socket, `${hostname}:${port}`);
    return socket;
  }

  override async tlsFirst(address: Address): Promise<TLSSocket> {
    this.#isTlsFirst = true;
    // Dial here, so that the socket of the handshake is known.
    this.socket = await this.dial(address);
    return super.tlsFirst(address);
  }

  override async close(error?: Error): Promise<void> {
    await super.close(error);
    if (!this.connected) this.#dialled?.destroy();
  }
}

/**
 * Waits for the first bytes, and puts them back: a NATS server greets each connection at once, and the client would wait
 * for that greeting until its own timeout.
 *
 * @throws ThroughlineError `unavailable` for other bytes, or none within a second
 */
async function greetingOf(socket: Socket, address: string): Promise<void> {
  let isSilent = false;
  const greeting = await new Promise<Buffer | undefined>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve(socket.read() ?? undefined);
    };
    // A busy process may see the bytes only after the timer.
    const timer = setTimeout(() => {
      isSilent = true;
      setImmediate(done);
    }, GREETED_WITHIN_MS);
    for (const event of ['readable', 'error', 'close']) socket.once(event, done);
  });
  socket.removeAllListeners();
  if (greeting !== undefined && (greeting.toString('latin1', 0, 4) === 'INFO' || greeting.length < 4)) {
    socket.unshift(greeting);
    return;
  }
  socket.destroy();
  if (greeting === undefined && !isSilent) throw new Error('the connection was closed before a greeting');
  const why = greeting === undefined ? 'it sends no greeting' : 'it speaks another protocol';
  const fix = 'set NATS_URL or --nats to the address of one';
  throw new ThroughlineError('unavailable', `${address} is not a NATS server, ${why}: ${fix}`, {
    details: { fix },
  });
}

/**
 * Makes the client use this transport. The factory is a process-wide setting that each `connect` of the client resets, so this
 * must be called before each attempt.
 */
export function useEndingTransport(): void {
  setTransportFactory({ factory: () => new EndingTransport(), dnsResolveFn: nodeResolveHost });
}

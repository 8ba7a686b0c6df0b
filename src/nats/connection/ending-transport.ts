import { createConnection, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ConnectionOptions, TlsOptions } from 'nats';
import { setTransportFactory } from 'nats/lib/nats-base-client/internal_mod.js';
import { NodeTransport, nodeResolveHost } from 'nats/lib/src/node_transport.js';
import { ThroughlineError } from '../../contracts/errors.js';

const GREETED_WITHIN_MS = 800;
const PROVEN: TlsOptions & { readonly rejectUnauthorized: boolean } = { rejectUnauthorized: false };
const NAME_ONE = 'set NATS_URL or --nats to the address of one';
const AGAIN = 'end it with "throughline down", then run "throughline up --detach"';

interface Address {
  readonly hostname: string;
  readonly port: number;
}

/** Options of a connection beside the client's own. */
export interface DialOptions {
  /** Returns where the server is, and what its greeting contains. Called at each attempt; may throw. */
  readonly locate?: () => Address & { readonly greeting: string; readonly pid: number };
  readonly greeted?: (greeting: string) => void;
  /** Says what to do where something else than a NATS server answers. */
  readonly otherwise?: string;
}

/**
 * The client's transport, which also closes the sockets of failed attempts. The original leaks the socket of an attempt that
 * timed out waiting for the server's greeting, and a frozen server thereby keeps the process alive.
 */
class EndingTransport extends NodeTransport {
  #dialled: Socket | undefined;
  #isTlsFirst = false;

  override async dial(address: Address): Promise<Socket> {
    const { locate, greeted, otherwise = NAME_ONE }: ConnectionOptions & DialOptions = this.options;
    const located = locate?.();
    const { port, hostname } = located ?? address;
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
    if (this.#isTlsFirst) return socket;
    const greeting = await greetingOf(socket, `${hostname}:${port}`, otherwise, located?.pid);
    greeted?.(greeting);
    if (located === undefined) return socket;
    try {
      // Another process may have taken the port since the server was located.
      if (greeting.includes(located.greeting) && locate?.().pid === located.pid) {
        // Its process proves who it is; its certificate is for other machines, and for their names of it.
        this.options = { ...this.options, tls: PROVEN };
        return socket;
      }
      throw new ThroughlineError('unavailable', `${hostname}:${port} is not your server: ${AGAIN}`);
    } catch (error) {
      socket.destroy();
      throw error;
    }
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
 * @param pid the process of the user's own server, if this is the one
 * @throws ThroughlineError `unavailable` for other bytes, or none within a second
 */
async function greetingOf(socket: Socket, address: string, fix: string, pid?: number): Promise<string> {
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
  const text = greeting?.toString('latin1') ?? '';
  if (greeting !== undefined && (text.startsWith('INFO') || text.length < 4)) {
    socket.unshift(greeting);
    return text;
  }
  socket.destroy();
  if (isSilent && pid !== undefined) throw hangs(pid);
  if (greeting === undefined && !isSilent) throw new Error('the connection was closed before a greeting');
  const why = greeting === undefined ? 'or hangs: it sends no greeting' : 'it speaks another protocol';
  throw new ThroughlineError('unavailable', `${address} is not a NATS server, ${why}: ${fix}`, {
    details: { fix },
  });
}

/** Says that the user's own server runs and does not answer. */
export function hangs(pid: number): ThroughlineError {
  const message = `the server, process ${pid}, does not answer: ${AGAIN}`;
  return new ThroughlineError('unavailable', message, { details: { fix: AGAIN } });
}

/** Makes the client use this transport: a process-wide factory that each `connect` resets, so call it before each one. */
export function useEndingTransport(): void {
  setTransportFactory({ factory: () => new EndingTransport(), dnsResolveFn: nodeResolveHost });
}

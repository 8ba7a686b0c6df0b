import type { Exit } from './server-child.js';
import type { NatsServerSource } from './server-search.js';

/** How to start a server. */
export interface StartOptions {
  /** From `findNatsServer`. */
  readonly source: NatsServerSource;
  /** Holds JetStream's data, `nats-server.conf` and `nats-server.log`; made when missing, never removed. */
  readonly storeDir: string;
  /** Default: 127.0.0.1, which only this machine can reach. There is no password: think before you widen it. */
  readonly host?: string | undefined;
  /** Default: 0, a free one. */
  readonly port?: number | undefined;
  /** HTTP monitoring, on the same host; 0 is a free port. Default: none. */
  readonly monitorPort?: number | undefined;
  /** Default: a name made up for this run. */
  readonly serverName?: string | undefined;
  /** The largest message, in bytes. Default: the server's own, 1 MiB. */
  readonly maxPayloadBytes?: number | undefined;
  /** How often JetStream syncs to disk: `always`, or as in `10s`. Default: the server's own, two minutes. */
  readonly syncInterval?: string | undefined;
  /** Configuration in the server's own language, added at the end as it is. */
  readonly extraConfig?: string | undefined;
  /** Gets one line when the server is ready, and one when it has ended. Default: nothing. */
  readonly log?: ((line: string) => void) | undefined;
}

/** A server that is ready, until it is stopped, killed, or ends by itself. */
export interface RunningServer {
  /** As in `nats://127.0.0.1:4222`. */
  readonly url: string;
  readonly port: number;
  /** As in `http://127.0.0.1:8222`; undefined without `monitorPort`. */
  readonly monitorUrl: string | undefined;
  readonly pid: number;
  readonly storeDir: string;
  /** What the server says: appended to, over restarts. */
  readonly logFile: string;
  readonly exited: Promise<Exit>;
  /** SIGTERM, and after five seconds SIGKILL. Resolves once the process is gone; once more does nothing. */
  stop(): Promise<void>;
  /** SIGKILL. Resolves once the process is gone; once more does nothing. */
  kill(): Promise<void>;
}

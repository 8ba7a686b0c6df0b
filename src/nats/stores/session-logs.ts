import type { InstalledLayout } from '../../contracts/session-layout.js';
import { type LayoutPorts, readLayout } from '../jetstream/layout-record.js';
import type { TopologyOptions } from '../jetstream/topology.js';
import type { ForgottenSessions } from './forgotten-floor.js';
import type { EventLogPorts } from './nats-event-log.js';
import { NatsMovingSessionLog } from './nats-moving-session-log.js';
import { NatsSessionLog } from './nats-session-log.js';
import { NatsShardedSessionLog } from './nats-sharded-session-log.js';

export interface SessionLogOptions extends TopologyOptions {
  readonly layoutTrustedMs?: number | undefined;
  /** Which sessions were forgotten. Default: none. */
  readonly forgotten?: ForgottenSessions;
}

/** The logs of sessions in each layout, on one connection. */
export class SessionLogs {
  readonly #ports: EventLogPorts & LayoutPorts;
  readonly #options: SessionLogOptions;
  readonly own: NatsSessionLog;

  constructor(ports: EventLogPorts & LayoutPorts, options: SessionLogOptions) {
    this.#ports = ports;
    this.#options = options;
    this.own = new NatsSessionLog(ports, options, options.forgotten);
  }

  sharded(shards: number): NatsShardedSessionLog {
    return new NatsShardedSessionLog(this.#ports, { ...this.#options, shards });
  }

  /** The log of an installation: what is in shards stays there, all else may be moved. */
  of(layout: InstalledLayout): NatsShardedSessionLog | NatsMovingSessionLog {
    if (layout.layout === 'sharded') return this.sharded(layout.shards);
    const { jsm, timeoutMs } = this.#ports;
    const { layoutTrustedMs: trustedMs } = this.#options;
    const recorded = () => readLayout(this.#ports);
    const sharded = (shards: number) => this.sharded(shards);
    return new NatsMovingSessionLog({ jsm, timeoutMs, recorded, own: this.own, sharded, trustedMs }, layout);
  }
}

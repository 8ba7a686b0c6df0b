import { Events, ErrorCode as NatsCode, type NatsConnection, NatsError } from 'nats';
import type { ThroughlineError } from '../../contracts/errors.js';
import { permissionDenied } from './nats-errors.js';

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

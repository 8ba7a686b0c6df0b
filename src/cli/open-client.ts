import { inheritedTrace } from '../engine/monitoring/tracing.js';
import { silentLogger } from '../engine/ports/clients.js';
import { connectNats, type NatsConnection } from '../nats/connection/connect-nats.js';
import { natsTransport } from '../nats/connection/nats-client-transport.js';
import { keepTrying, type Persistence } from '../sdk/keep-trying.js';
import { ThroughlineClient } from '../sdk/throughline-client.js';
import { type Cli, started } from './cli-context.js';

export { closeConnection } from '../nats/connection/connect-nats.js';

const NAME = 'throughline cli';

export interface Opening {
  /** Connection attempts; one by default. */
  readonly tries?: Persistence;
  /** Default true. A command that must start fast loads no schemas: it shows what it is told. */
  readonly checkReplies?: boolean;
}

/** Connects as a client of the services. What the connection reports is said once, by the request that fails. */
export async function openClient(
  cli: Pick<Cli, 'server' | 'config' | 'autostart'>,
  { tries, checkReplies = true }: Opening = {},
): Promise<ThroughlineClient> {
  const { config } = cli;
  const { access, requestTimeoutMs, afterTimeoutMs, env } = config;
  const connection = await started(cli, (url) => {
    const connecting = (timeoutMs?: number) =>
      connectNats({
        url,
        name: NAME,
        access,
        logger: silentLogger,
        ...(timeoutMs && { timeoutMs }),
      });
    return tries === undefined ? connecting() : keepTrying(connecting, tries);
  });
  // A request with `after` is answered only when the wait is over.
  const timeoutMs = requestTimeoutMs + afterTimeoutMs;
  const trace = inheritedTrace(env);
  return new ThroughlineClient(natsTransport(connection, requestTimeoutMs, { trace: () => trace }), {
    timeoutMs,
    checkReplies,
  });
}

/** Connects. What the connection reports is said once, by what fails. */
export function openConnection(cli: Cli): Promise<NatsConnection> {
  const { access } = cli.config;
  return started(cli, (url) => connectNats({ url, name: NAME, access, logger: silentLogger }));
}

import { inheritedTrace } from '../engine/monitoring/message-spans.js';
import { silentLogger } from '../engine/ports/clients.js';
import { connectNats } from '../nats/connection/connect-nats.js';
import { natsTransport } from '../nats/connection/nats-client-transport.js';
import { keepTrying, type Persistence } from '../sdk/keep-trying.js';
import { ThroughlineClient } from '../sdk/throughline-client.js';
import { type Cli, started } from './cli-context.js';

export interface Opening {
  /** Connection attempts; one by default. */
  readonly tries?: Persistence;
  /** Default true. A command that must start fast loads no schemas: it shows what it is told. */
  readonly checkReplies?: boolean;
}

/** Connects as a client of the services. What the connection reports is said once, by the request that fails. */
export async function openClient(
  cli: Pick<Cli, 'url' | 'config' | 'autostart'>,
  { tries, checkReplies = true }: Opening = {},
): Promise<ThroughlineClient> {
  const { config } = cli;
  const { access, requestTimeoutMs, afterTimeoutMs, env } = config;
  const connection = await started(cli, (url) => {
    const connecting = (timeoutMs?: number) =>
      connectNats({
        url,
        name: 'throughline cli',
        access,
        logger: silentLogger,
        ...(timeoutMs && { timeoutMs }),
      });
    return tries === undefined ? connecting() : keepTrying(connecting, tries);
  });
  // A request with `after` is answered only when the wait is over.
  const timeoutMs = requestTimeoutMs + afterTimeoutMs;
  const tracing = inheritedTrace(env);
  return new ThroughlineClient(natsTransport(connection, requestTimeoutMs, { tracing }), {
    timeoutMs,
    checkReplies,
  });
}

import { usageError } from '../contracts/errors.js';
import { Monitoring } from '../engine/monitoring/monitoring.js';
import type { Shutdown } from '../engine/runtime/shutdown.js';
import type { Command, Flags, Numbers, Texts } from './cli-command.js';
import type { Cli } from './cli-context.js';
import { wholeNumber } from './option-parsers.js';

export interface MonitoringOptions
  extends Flags<'otel' | 'otelSessions'>,
    Texts<'metricsHost'>,
    Numbers<'metricsPort'> {
  readonly metricsName?: readonly string[];
}

const LOOPBACK = '127.0.0.1';

export function addMonitoringOptions(command: Command): Command {
  return command
    .option(
      '--metrics-port <n>',
      'serve /metrics, /healthz and /readyz on this port; 0 for a free one, which the log names (default: none)',
      wholeNumber(0, 65_535),
    )
    .option('--metrics-host <address>', `address that this port listens on (default: ${LOOPBACK})`)
    .option(
      '--metrics-name <host...>',
      'names under which this port is asked beside localhost and its address',
    )
    .option('--otel', 'send spans with the OpenTelemetry SDK that is installed, as its OTEL_ variables say')
    .option('--otel-sessions', 'name sessions in these spans (default: no span says which session it is of)');
}

/** @throws ThroughlineError `usage` for options that change nothing without another one */
export function checkMonitoring({ metricsPort, metricsHost, metricsName }: MonitoringOptions): void {
  const option = metricsHost !== undefined ? 'host' : metricsName !== undefined ? 'name' : undefined;
  if (metricsPort === undefined && option !== undefined)
    throw usageError(`--metrics-${option} is only for --metrics-port: give that, too`);
}

/** Starts what these options ask for. Comes before the services: how they start is to be seen as well. */
export async function startMonitoring(
  { config, logger }: Cli,
  options: MonitoringOptions,
  shutdown: Shutdown,
): Promise<{ readonly monitoring: Monitoring; readonly traceSessions: boolean }> {
  checkMonitoring(options);
  const { metricsPort: port, metricsHost = LOOPBACK, metricsName: names = [], otel, otelSessions } = options;
  const monitoring = new Monitoring();
  if (otel) {
    const { startOtelSdk } = await import('../engine/monitoring/tracing.js');
    shutdown.add('the OpenTelemetry SDK', await startOtelSdk(config.env, logger));
  }
  if (port !== undefined) {
    const { startMonitoringServer } = await import('../engine/monitoring/monitoring-server.js');
    await watchThisProcess({ monitoring, shutdown });
    const server = await startMonitoringServer(monitoring, { host: metricsHost, names, port });
    shutdown.add('the metrics', () => server.stop());
    logger.info({ url: server.url }, 'metrics are served at /metrics');
  }
  return { monitoring, traceSessions: otelSessions === true };
}

export async function watchThisProcess({
  monitoring,
  shutdown,
}: {
  readonly monitoring: Monitoring;
  readonly shutdown: Shutdown;
}): Promise<void> {
  const { watchProcess } = await import('../engine/monitoring/monitoring-server.js');
  const watch = watchProcess();
  monitoring.metrics.add(watch.collect);
  shutdown.add('the watch of the process', async () => watch.stop());
}

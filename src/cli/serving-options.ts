import { Option } from 'commander';
import { personName } from '../config/person-name.js';
import { usageError } from '../contracts/errors.js';
import { INSPECTOR_PORT, INSPECTOR_ROLES, type InspectorRole } from '../contracts/inspector-api.js';
import { Monitoring } from '../engine/monitoring/monitoring.js';
import type { Shutdown } from '../engine/runtime/shutdown.js';
import type { NatsAddress } from '../nats/connection/nats-access.js';
import type { Context } from '../services/common/service-context.js';
import type { RunningInspector } from '../services/inspector/serve-inspector.js';
import type { Cli, Command, Flags, Numbers, Texts } from './cli-command.js';
import { note } from './command-context.js';
import { wholeNumber } from './option-parsers.js';

export interface MonitoringOptions
  extends Flags<'otel' | 'otelSessions'>,
    Texts<'metricsHost'>,
    Numbers<'metricsPort'> {}

const LOOPBACK = '127.0.0.1';

export function addMonitoringOptions(command: Command): Command {
  return command
    .option(
      '--metrics-port <n>',
      'serve /metrics, /healthz and /readyz on this port; 0 for a free one, which the log names (default: none)',
      wholeNumber(0, 65_535),
    )
    .option('--metrics-host <address>', `address that this port listens on (default: ${LOOPBACK})`)
    .option('--otel', 'send spans with the OpenTelemetry SDK that is installed, as its OTEL_ variables say')
    .option('--otel-sessions', 'name sessions in these spans (default: no span says which session it is of)');
}

/** @throws ThroughlineError `usage` for an option that changes nothing without another one */
export function checkMonitoring({ metricsPort, metricsHost }: MonitoringOptions): void {
  if (metricsPort === undefined && metricsHost !== undefined)
    throw usageError('--metrics-host is only for --metrics-port: give that, too');
}

/** Starts what these options ask for. Comes before the services: how they start is to be seen as well. */
export async function startMonitoring(
  { config, logger }: Cli,
  options: MonitoringOptions,
  shutdown: Shutdown,
): Promise<{ readonly monitoring: Monitoring; readonly traceSessions: boolean }> {
  checkMonitoring(options);
  const { metricsPort: port, metricsHost: host = LOOPBACK, otel, otelSessions } = options;
  const monitoring = new Monitoring();
  if (otel) {
    const { startOtelSdk } = await import('../engine/monitoring/tracing.js');
    shutdown.add('the OpenTelemetry SDK', await startOtelSdk(config.env, logger));
  }
  if (port !== undefined) {
    const { startMonitoringServer } = await import('../engine/monitoring/monitoring-server.js');
    const server = await startMonitoringServer(monitoring, { host, port });
    shutdown.add('the metrics', () => server.stop());
    logger.info({ url: server.url }, 'metrics are served at /metrics');
  }
  return { monitoring, traceSessions: otelSessions === true };
}

export interface InspectorFlags extends Texts<'inspectorHost'>, Numbers<'inspectorPort'> {
  readonly inspectorName?: readonly string[];
  readonly inspectorRole?: InspectorRole;
}

export function addInspectorOptions(command: Command, isDefault: string): Command {
  return command
    .option(
      '--inspector-port <n>',
      `serve the inspector on this port; 0 for any free one (default: ${isDefault})`,
      wholeNumber(0, 65_535),
    )
    .option('--inspector-host <address>', 'address that the inspector listens on (default: 127.0.0.1)')
    .addOption(
      new Option(
        '--inspector-name <host...>',
        'names under which browsers reach the inspector beside localhost, as behind a proxy',
      ),
    )
    .choice(
      '--inspector-role <role>',
      'operator lets the inspector decide on proposals and retry rejected results, if its NATS user may; reader only look ' +
        '(default: operator where up starts the server, else reader)',
      INSPECTOR_ROLES,
    );
}

/** Serves the inspector as these options say. @param usual what it may do where the options do not say */
export async function startInspector(
  url: NatsAddress,
  context: Context & Pick<Cli, 'server'>,
  flags: InspectorFlags,
  usual: InspectorRole,
): Promise<RunningInspector> {
  const { serveInspector } = await import('../services/inspector/serve-inspector.js');
  const { inspectorPort: port, inspectorHost: host, inspectorName: names } = flags;
  const role = flags.inspectorRole ?? usual;
  const user = personName(context.server, process.cwd());
  const inspector = await serveInspector(url, context, { role, user, port, host, names });
  if (port === undefined && inspector.port !== INSPECTOR_PORT) {
    note(`-- port ${INSPECTOR_PORT} is in use: the inspector is on port ${inspector.port}`);
  }
  return inspector;
}

export function inspectorLine({ url }: Pick<RunningInspector, 'url'>): string {
  return `inspector ${url}`;
}

import { type Command, Option } from 'commander';
import { INSPECTOR_ROLES, type InspectorRole } from '../contracts/inspector-api.js';
import type { Monitoring } from '../monitoring/monitoring.js';
import type { Context } from '../services/common/service-context.js';
import { DEFAULT_PORT } from '../services/inspector/inspector-port.js';
import type { RunningInspector } from '../services/inspector/serve-inspector.js';
import { note } from './command-context.js';
import { type MonitoringOptions, watchThisProcess } from './monitoring-options.js';
import { wholeNumber } from './option-parsers.js';

/** Where the inspector is to be served. */
export interface InspectorFlags {
  readonly inspectorPort?: number;
  readonly inspectorHost?: string;
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
    .addOption(
      new Option(
        '--inspector-role <role>',
        'operator lets the inspector decide on proposals and retry rejected results, if its NATS user may; reader only look ' +
          '(default: operator where up starts the server, else reader)',
      ).choices(INSPECTOR_ROLES),
    );
}

/**
 * Serves the inspector as these options say.
 *
 * @param usual what it may do where the options do not say
 */
export async function startInspector(
  url: string,
  context: Context & { readonly monitoring: Monitoring },
  flags: InspectorFlags & Pick<MonitoringOptions, 'metricsPort'>,
  usual: InspectorRole,
): Promise<RunningInspector> {
  const { serveInspector } = await import('../services/inspector/serve-inspector.js');
  if (flags.metricsPort === undefined) await watchThisProcess(context);
  const {
    inspectorPort: port,
    inspectorHost: host,
    inspectorName: names,
    inspectorRole: role = usual,
  } = flags;
  const inspector = await serveInspector(url, context, { role, port, host, names });
  if (port === undefined && inspector.port !== DEFAULT_PORT) {
    note(`-- port ${DEFAULT_PORT} is in use: the inspector is on port ${inspector.port}`);
  }
  return inspector;
}

/** The line that says where to open it. */
export function inspectorLine({ url }: Pick<RunningInspector, 'url'>): string {
  return `inspector ${url}`;
}

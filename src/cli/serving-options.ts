import { Option } from 'commander';
import { personName } from '../config/person-name.js';
import { INSPECTOR_PORT, INSPECTOR_ROLES, type InspectorRole } from '../contracts/inspector-api.js';
import type { NatsAddress } from '../nats/connection/nats-access.js';
import type { Context } from '../services/common/service-context.js';
import type { RunningInspector } from '../services/inspector/serve-inspector.js';
import type { Cli, Command, Numbers, Texts } from './cli-command.js';
import { note } from './command-context.js';
import { wholeNumber } from './option-parsers.js';

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

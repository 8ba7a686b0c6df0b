import { Option } from 'commander';
import { usageError } from '../contracts/errors.js';
import { token } from '../contracts/names.js';
import {
  ACCESS_ROLES,
  type AccessRole,
  permissionsBlock,
  permissionsOf,
} from '../nats/server/role-permissions.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { note, out } from './command-context.js';

interface PermissionsOptions extends Flags<'json'>, Texts<'inboxPrefix'> {
  readonly role: AccessRole;
  readonly session?: readonly string[];
}

export function permissionsCommand(program: Command): void {
  program
    .command('permissions')
    .description(
      'Prints a permissions block for a user in the configuration of nats-server.\n\n' +
        'Set THROUGHLINE_INBOX_PREFIX of each process to the prefix that its user may listen to.',
    )
    .addOption(
      new Option('--role <role>', 'what the user is for').choices(ACCESS_ROLES).makeOptionMandatory(),
    )
    .option(
      '-s, --session <name...>',
      'publisher, reader and member: only these sessions, which need not exist yet',
    )
    .option('--inbox-prefix <prefix>', 'prefix of its reply subjects (default: _INBOX_<role>)')
    .option('--json', 'print it as JSON')
    .examples(
      'throughline admin permissions --role publisher --session demo',
      'throughline admin permissions --role services --json',
    )
    .action((options: PermissionsOptions) => {
      const { role, inboxPrefix = `_INBOX_${role}` } = options;
      for (const part of inboxPrefix.split('.')) token(part, '--inbox-prefix');
      const sessions = options.session?.map((name) => token(name, '--session'));
      if (sessions !== undefined && (role === 'services' || role === 'operator'))
        throw usageError(
          `the role ${role} works for all sessions: leave out --session, or give each team an account`,
        );
      const permissions = permissionsBlock(permissionsOf(role, { inboxPrefix, sessions }));
      if (options.json) return out(JSON.stringify({ role, inboxPrefix, permissions }));
      note(`-- ${role}: set THROUGHLINE_INBOX_PREFIX=${inboxPrefix} where it runs`);
      // The server reads JSON.
      out(`permissions ${JSON.stringify(permissions, undefined, 2)}`);
    });
}

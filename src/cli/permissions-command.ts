import { Option } from 'commander';
import { usageError } from '../contracts/errors.js';
import { DEFAULT_SHARDS, PER_SESSION, type SessionLayout, type Token, token } from '../contracts/names.js';
import { type AccountSharing, sharingFor } from '../nats/account-sharing.js';
import {
  ACCESS_ROLES,
  type AccessRole,
  type Permissions,
  permissionsOf,
  SESSION_ROLES,
} from '../nats/role-permissions.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { type Cli, cliOf, note, out } from './command-context.js';
import { addLayoutOptions, type LayoutOptions, withLayout } from './option-parsers.js';

interface PermissionsOptions extends LayoutOptions, Flags<'json'>, Texts<'inboxPrefix' | 'account'> {
  readonly role: AccessRole;
  readonly session?: readonly string[];
}

const ROLES = `
Roles:
  publisher  runs agents: publishes results, asks for prompts, uses the tools
  worker     the services extractor, tools, learnings and keeper
  compiler   the service compiler
  reader     looks at sessions, snapshots and services, and writes nothing
  operator   reads all, retries rejected results, reviews proposals, archives
             and forgets sessions, says how long things are kept
  backup     runs "throughline admin backup": copies all streams, whole`;

export function permissionsCommand(program: Command): void {
  const permissions = program
    .command('permissions')
    .description(
      'Prints a permissions block for a user in the configuration of nats-server.\n\n' +
        'Set THROUGHLINE_INBOX_PREFIX of each process to the prefix that its user may listen to.\n' +
        'NATS wildcards stand for whole tokens: no permission can say "all sessions that begin with team-".\n\n' +
        'NATS does not check the reply subject of a request. So in one account, a user who may read a stream can redirect a\n' +
        'reply to JetStream and delete any stream. Give untrusted users a separate account: --account prints, with their\n' +
        'permissions, the exports and imports of both accounts.',
    )
    .addOption(
      new Option('--role <role>', 'the role: --help lists what each may do')
        .choices(ACCESS_ROLES)
        .makeOptionMandatory(),
    )
    .option('-s, --session <name...>', 'publisher and reader: only these sessions, which need not exist yet')
    .option('--account <name>', 'account of the streams, if the users are in another one')
    .option('--inbox-prefix <prefix>', 'prefix of its reply subjects (default: _INBOX_<role>)')
    .option('--json', 'print it as JSON');
  addLayoutOptions(permissions, 'layout of session logs, which "throughline doctor" says')
    .addHelpText('after', ROLES)
    .examples(
      'throughline admin permissions --role publisher --session demo',
      'throughline admin permissions --role worker --json',
      'throughline admin permissions --role reader --session demo --account THROUGHLINE',
    )
    .action(async (options: PermissionsOptions, command: Command) => {
      const { role, inboxPrefix = `_INBOX_${role}` } = options;
      for (const part of inboxPrefix.split('.')) token(part, '--inbox-prefix');
      const sessions = sessionsOf(options);
      const layout = layoutOf(options, cliOf(command));
      const permissions = permissionsOf(role, { inboxPrefix, layout, ...(sessions && { sessions }) });
      const sharing = sharingOf(options, permissions);
      const printed = { role, inboxPrefix, ...inServerWords(permissions), ...sharing };
      if (options.json) return out(JSON.stringify(printed));
      note(`-- ${role}: set THROUGHLINE_INBOX_PREFIX=${inboxPrefix} where it runs`);
      if (sharing !== undefined) out(shared(options.account ?? '', sharing));
      // The server reads JSON.
      out(`permissions ${JSON.stringify(inServerWords(permissions).permissions, undefined, 2)}`);
    });
}

/** Printed for a server that need not be there: without a setting, a stream per session. */
function layoutOf(options: PermissionsOptions, cli: Cli): SessionLayout {
  const { layout, shards = DEFAULT_SHARDS } = withLayout(cli, options).config;
  return layout === 'sharded' ? { layout, shards } : PER_SESSION;
}

function sharingOf(
  { role, account }: PermissionsOptions,
  permissions: Permissions,
): AccountSharing | undefined {
  if (account === undefined) return undefined;
  if (permissions.allowResponses) {
    throw usageError(`a ${role} runs in the account of the streams: leave out --account`);
  }
  return sharingFor(permissions, token(account, '--account'));
}

/** An entry a line, because the lists of several users are put together. */
function shared(account: string, { exports, imports }: AccountSharing): string {
  const list = (name: string, entries: readonly object[]) => [
    `${name} [`,
    ...entries.map((entry) => `  ${JSON.stringify(entry)}`),
    ']',
  ];
  return [
    `# in the account ${account}, which has JetStream`,
    ...list('exports', exports),
    '# in the account of these users, which has no JetStream',
    ...list('imports', imports),
    '# of these users',
  ].join('\n');
}

function sessionsOf({ role, session }: PermissionsOptions): Token[] | undefined {
  if (session === undefined || SESSION_ROLES.has(role))
    return session?.map((name) => token(name, '--session'));
  throw usageError(`a ${role} works for all sessions: leave out --session, or give each team an account`);
}

/** Returns permissions with the field names of the NATS server configuration. */
function inServerWords({ publish, subscribe, allowResponses }: Permissions) {
  return {
    permissions: {
      publish: { allow: publish.allow, ...(publish.deny.length > 0 && { deny: publish.deny }) },
      subscribe: { allow: subscribe.allow },
      ...(allowResponses && { allow_responses: { max: 1, expires: '1m' } }),
    },
  };
}

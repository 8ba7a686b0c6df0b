import { stateDirOf } from '../config/config.js';
import { joinTeam, leaveTeam } from '../config/user-server.js';
import { shownAddress } from '../nats/connection/nats-access.js';
import type { Command } from './cli-command.js';
import { cliOf, out, withConnection } from './command-context.js';

export function teamCommand(program: Command): void {
  const team = program
    .command('team')
    .description(
      'Names the server of a team or a container for good. Commands, hooks, MCP servers and clients then use it instead of\n' +
        'yours, unless --nats or NATS_URL names another.',
    )
    .examples('throughline team join nats://127.0.0.1:4222', 'throughline team leave');

  team
    .command('join')
    .summary('use this server from now on')
    .description('Uses this server from now on. It must answer now.')
    .argument('<url>', 'nats://host:port, several separated by commas; it may hold credentials')
    .examples('throughline team join nats://127.0.0.1:4222')
    .action(async (url: string, _: object, command: Command) => {
      const cli = cliOf(command);
      await withConnection({ ...cli, server: { kind: 'team', url } }, async () => {});
      joinTeam(stateDirOf(cli.config.env), url);
      out(`throughline team joined ${shownAddress(url)}`);
    });

  team
    .command('leave')
    .summary('use your own server again')
    .description('Uses your own server again.')
    .examples('throughline team leave')
    .action((_: object, command: Command) => {
      const url = leaveTeam(stateDirOf(cliOf(command).config.env));
      out(url === undefined ? 'no team was joined' : `throughline team left ${shownAddress(url)}`);
    });
}

import { createConnection } from 'node:net';
import { join } from 'node:path';
import { stateDirOf } from '../config/config.js';
import { byOwner, joinTeam, leaveTeam, ownServer } from '../config/user-server.js';
import { makePrivateFolder, readRegularFile, writePrivateFile } from '../engine/files/user-state.js';
import { shownAddress } from '../nats/connection/nats-access.js';
import type { Command } from './cli-command.js';
import { type Cli, cliOf, note, out, withConnection } from './command-context.js';

/** Servers that are named for good, and one that listens where it would be named. */

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

const USUAL_PORT = 4222;
const GREETED_WITHIN_MS = 300;
const SAID_FILE = 'other-server';
const MAX_NAME = 1024;

/**
 * Says, once, that another Throughline server than the user's own one listens on the usual port, and how to name it: that of a
 * container, or of a colleague. Nothing is sent there.
 */
export async function noteOtherServer({ config, server }: Pick<Cli, 'config' | 'server'>): Promise<void> {
  if (server.kind !== 'own' || ownServer(server.store).running?.url.endsWith(`:${USUAL_PORT}`)) return;
  const name = await throughlineOn(USUAL_PORT);
  const said = join(stateDirOf(config.env), SAID_FILE);
  const before = readRegularFile(said, MAX_NAME);
  if (name === undefined || (before instanceof Buffer && before.toString('utf8') === name)) return;
  makePrivateFolder(stateDirOf(config.env));
  writePrivateFile(said, name);
  const url = `nats://127.0.0.1:${USUAL_PORT}`;
  const by = byOwner(USUAL_PORT);
  note(
    `-- another Throughline server${by && `, run${by},`} listens on ${url}; nothing of yours goes there. To use it in place of your own: NATS_URL=${url}, or for good "throughline team join ${url}"`,
  );
}

/** Returns the name of the Throughline server that listens on a port, from its greeting; `undefined` if there is none. */
function throughlineOn(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    const done = (greeting: string) => {
      socket.destroy();
      resolve(/^INFO .*"server_name":"(throughline[\w-]{0,100})"/.exec(greeting)?.[1]);
    };
    socket.setEncoding('utf8').setTimeout(GREETED_WITHIN_MS, () => done(''));
    socket.once('error', () => done(''));
    socket.once('close', () => done(''));
    socket.once('data', (text: string) => done(text));
  });
}

import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { stateDirOf } from '../config/config.js';
import { type Joining, joinTeam, leaveTeam, serverText } from '../config/user-server.js';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { token } from '../contracts/names.js';
import { newUserKey, shownAddress } from '../nats/connection/nats-access.js';
import { reloadAccess } from '../nats/server/server-process.js';
import { keptToken, serverOnStore } from '../nats/server/server-store.js';
import {
  type Invitation,
  inboxOf,
  invitationText,
  keepSharing,
  type Listening,
  type Member,
  readInvitation,
  sharingOf,
} from '../nats/server/team-members.js';
import { keepTrying } from '../sdk/keep-trying.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { type Cli, cliOf, note, out, withClient, withConnection } from './command-context.js';
import { readNamed } from './option-parsers.js';
import { canAsk, hiddenAnswer, table } from './output.js';

export function teamCommand(program: Command): void {
  const team = program
    .command('team')
    .description(
      'Shares your server with a team, or uses that of a team or a container for good. Commands, hooks, MCP servers and clients\n' +
        'then use it instead of yours, unless --nats or NATS_URL names another.',
    )
    .examples('throughline team invite ann', 'throughline team join nats://127.0.0.1:4222');
  addInvitations(team);
  addMembers(team);
  addJoining(team);
}

const JSON_OPTION = ['--json', 'print {name, url, invitation} as JSON'] as const;
const ADDRESS_OPTION = ['--address <host>', 'name or address by which others reach this machine'] as const;
const CA_OPTION = [
  '--ca <file>',
  'authority of the certificate, in PEM, if other machines do not know it',
] as const;

type InviteOptions = Flags<'json'> & Texts<'address' | 'ca'> & { readonly session?: readonly string[] };

function addInvitations(team: Command): void {
  team
    .command('invite')
    .summary('let someone use your server')
    .description(
      'Lets someone use your server: prints the command for their machine, and an invitation that they paste there. It holds\n' +
        'their key, and is shown only now. From the first one on, the server asks everyone for a key; your own commands, hooks\n' +
        'and MCP servers have theirs.',
    )
    .argument('<name>', 'who is invited')
    .option('-s, --session <name...>', 'only these sessions, which need not exist yet')
    .option(...ADDRESS_OPTION)
    .option(...CA_OPTION)
    .option(...JSON_OPTION)
    .examples('throughline team invite ann', 'throughline team invite bob --session demo api')
    .action(async (name: string, options: InviteOptions, command: Command) => {
      const sessions = options.session?.map((session) => token(session, '--session'));
      await invite(cliOf(command), options, (members) => {
        if (members.some((member) => member.name === name))
          throw usageError(`${name} is a member: "throughline team rotate ${name}" makes a new invitation`);
        return { name: token(name, 'NAME'), since: new Date().toISOString(), sessions };
      });
    });

  team
    .command('rotate')
    .summary("replace a member's key")
    .description("Replaces a member's key, and prints a new invitation. The old key ends at once.")
    .argument('<name>', 'the member')
    .option(...ADDRESS_OPTION)
    .option(...CA_OPTION)
    .option(...JSON_OPTION)
    .examples('throughline team rotate ann')
    .action((name: string, options: InviteOptions, command: Command) =>
      invite(cliOf(command), options, (members) => memberOf(members, name)),
    );
}

/** Gives a member a new key, and prints what they need. */
async function invite(
  cli: Cli,
  options: InviteOptions,
  find: (members: readonly Member[]) => Omit<Member, 'key'>,
): Promise<void> {
  const store = ownStoreOf(cli);
  const { listen } = sharingOf(store);
  const ca = (await authority(options)) ?? selfSigned(listen);
  const host = options.address ?? addressFor(listen);
  const { key, seed } = newUserKey();
  let name = '';
  await changeMembers(cli, (members) => {
    const member = { ...find(members), key };
    ({ name } = member);
    return [...members.filter((each) => each.name !== name), member];
  });
  const { port } = new URL(serverOnStore(store)?.url ?? '');
  const url = `${listen?.tls === undefined ? 'nats' : 'tls'}://${host}:${port}`;
  const by = `${userInfo().username}@${hostname()}`;
  const invitation = invitationText({ name, seed, url, by, ca });
  if (options.json) return out(JSON.stringify({ name, url, invitation }));
  out(`throughline team join ${url}\n${invitation}`);
  note(`-- ${name} runs the command, and pastes the invitation when asked; it is shown only now`);
  if (listen === undefined)
    note('-- your server listens on this machine alone: "throughline up --help" shows --listen');
}

const BACK_WITHIN_MS = 10_000;

/** Has the server take changed members, and waits until the services are back: the first member cuts all connections. */
async function changeMembers(
  cli: Cli,
  change: (members: readonly Member[]) => readonly Member[],
): Promise<void> {
  const store = ownStoreOf(cli);
  const { members = [], ...sharing } = sharingOf(store);
  keepSharing(store, { ...sharing, members: change(members) });
  // Before the reload, after which the user's own processes need it.
  keptToken(store);
  await reloadAccess(store);
  await withClient(cli, ({ tools }) =>
    keepTrying(() => tools.sessionList({ brief: true, limit: 1 }), { timeoutMs: BACK_WITHIN_MS }),
  );
}

function ownStoreOf({ server }: Cli): string {
  if (server.kind === 'own') return server.store;
  throw usageError(
    `members are managed on the machine of the server, by the one who runs it; in use here is ${serverText(server)}`,
  );
}

function memberOf(members: readonly Member[], name: string): Member {
  const member = members.find((each) => each.name === name);
  if (member !== undefined) return member;
  const names = members.map((each) => each.name).join(', ') || 'none';
  throw new ThroughlineError('not_found', `${name} is not a member; members: ${names}`);
}

/** Returns the first name or address that the certificate is for; without one, that of this machine. */
function addressFor(listen: Listening | undefined): string {
  if (listen === undefined) return '127.0.0.1';
  const names = listen.tls && new X509Certificate(readFileSync(listen.tls.cert)).subjectAltName;
  const [, named] = /(?:DNS|IP Address):([^\s,*]+)/.exec(names ?? '') ?? [];
  return named ?? (/^(0\.0\.0\.0|::)$/.test(listen.host) ? hostname() : listen.host);
}

async function authority({ ca }: Texts<'ca'>): Promise<string | undefined> {
  return ca && (await readNamed(ca, `--ca ${ca}`)).toString('utf8');
}

function selfSigned(listen: Listening | undefined): string | undefined {
  if (listen?.tls === undefined) return undefined;
  const pem = readFileSync(listen.tls.cert, 'utf8');
  const certificate = new X509Certificate(pem);
  return certificate.checkIssued(certificate) ? pem : undefined;
}

function addMembers(team: Command): void {
  team
    .command('members')
    .summary('list who may use your server')
    .description('Lists who may use your server.')
    .option('--json', 'print an array of {name, key, since, sessions?, owner?}')
    .examples('throughline team members')
    .action((options: Flags<'json'>, command: Command) => {
      const { members = [] } = sharingOf(ownStoreOf(cliOf(command)));
      if (options.json) return out(JSON.stringify(members));
      if (members.length === 0) return note('-- no members: "throughline team invite NAME" lets someone in');
      const rows = members.map(({ name, key, since, sessions, owner }) => {
        const may = owner === true ? 'everything' : (sessions?.join(', ') ?? 'all sessions');
        return [name, since.slice(0, 10), may, key];
      });
      out(table(['NAME', 'SINCE', 'MAY USE', 'KEY'], rows, String).join('\n'));
    });

  team
    .command('revoke')
    .summary('end the access of a member')
    .description("Ends a member's access, and open connections, at once. What was said stays, with its name.")
    .argument('<name>', 'the member')
    .examples('throughline team revoke ann')
    .action(async (name: string, _: object, command: Command) => {
      await changeMembers(cliOf(command), (members) => {
        const gone = memberOf(members, name);
        return members.filter((each) => each !== gone);
      });
      out(`throughline team revoked ${name}`);
    });

  team
    .command('owner')
    .description('Owners may do everything: also remove, archive, export and back up.')
    .command('add')
    .summary('let a member do everything')
    .description('Lets a member do everything: also remove, archive, export and back up.')
    .argument('<name>', 'the member')
    .examples('throughline team owner add bob')
    .action(async (name: string, _: object, command: Command) => {
      await changeMembers(cliOf(command), (members) => {
        const raised = memberOf(members, name);
        return members.map((each): Member => (each === raised ? { ...each, owner: true } : each));
      });
      out(`throughline team owner ${name}`);
    });
}

type JoinOptions = Texts<'ca' | 'creds' | 'user'>;

function addJoining(team: Command): void {
  team
    .command('join')
    .summary('use this server from now on')
    .description(
      'Uses this server from now on. It must answer now. If it asks who you are, paste the invitation, or give it on standard\n' +
        'input.',
    )
    .argument('[url]', 'nats://host:port, several separated by commas (default: that of the invitation)')
    .option('--ca <file>', 'authority of its certificate, in PEM')
    .option('--creds <file>', 'credentials, for a NATS server that someone else runs')
    .option('--user <name>', 'user there; asks for the password')
    .examples('throughline team join nats://127.0.0.1:4222', 'throughline team join < invitation')
    .action(async (url: string | undefined, options: JoinOptions, command: Command) => {
      const cli = cliOf(command);
      const stateDir = stateDirOf(cli.config.env);
      const trial = join(stateDir, 'team-trial');
      const proven = async (joining: Joining) => {
        try {
          const server = { kind: 'team', ...joinTeam(trial, joining) } as const;
          await withConnection({ ...cli, server }, async () => {});
          return joining;
        } finally {
          rmSync(trial, { recursive: true, force: true });
        }
      };
      const joined = joinTeam(stateDir, await joining(url, options, proven));
      out(
        `throughline team joined ${shownAddress(joined)}${joined.as === undefined ? '' : ` as ${joined.as}`}`,
      );
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

/** Returns what the user joins with, once the server has accepted it. */
async function joining(
  url: string | undefined,
  { creds, user, ...options }: JoinOptions,
  proven: (joining: Joining) => Promise<Joining>,
): Promise<Joining> {
  const ca = await authority(options);
  if (url !== undefined && (creds ?? user) !== undefined) {
    const access =
      user === undefined
        ? { creds: resolve(creds ?? '') }
        : { user, password: await secret(`Password of ${user}: `) };
    return proven({ url, as: user ?? basename(creds ?? ''), ca, access });
  }
  let fault: unknown;
  try {
    // A server that asks nothing, as in a container.
    if (url !== undefined) return await proven({ url, ca });
  } catch (error) {
    // Its authority may be in the invitation, too.
    if (!(error instanceof ThroughlineError && ['auth_failed', 'tls_failed'].includes(error.code)))
      throw error;
    fault = error;
  }
  const pasted = await secret('Invitation (tli_…): ');
  if (pasted === '') throw fault ?? usageError('name the server, or give the invitation on standard input');
  return proven(fromInvitation(readInvitation(pasted), url, ca));
}

function fromInvitation(invitation: Invitation, url: string | undefined, ca: string | undefined): Joining {
  const { name, seed, by } = invitation;
  const isPrivate = invitation.url.startsWith('tls:');
  return {
    // A server behind a changed address must not be asked without TLS.
    url: url === undefined ? invitation.url : isPrivate ? url.replace(/^nats:/, 'tls:') : url,
    ...{ as: name, by, seed, ca: ca ?? invitation.ca },
    access: { inboxPrefix: inboxOf(name) },
  };
}

/** Reads a secret: at a terminal without showing it, else all of standard input. */
async function secret(question: string): Promise<string> {
  return (canAsk() ? await hiddenAnswer(question) : await text(process.stdin)).trim();
}

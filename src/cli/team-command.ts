import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { removeStarts } from '../agents/hooks/spool.js';
import { stateDirOf } from '../config/config.js';
import {
  type Joining,
  joinTeam,
  leaveTeam,
  projectTeamDir,
  serverInUse,
  serverText,
} from '../config/user-server.js';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { token } from '../contracts/names.js';
import {
  type JoinedServer,
  type NatsAccess,
  newUserKey,
  shownAddress,
  userOf,
} from '../nats/connection/nats-access.js';
import { reloadAccess } from '../nats/server/server-process.js';
import { keptToken, serverOnStore } from '../nats/server/server-store.js';
import {
  type Invitation,
  inboxOf,
  invitationText,
  keepSharing,
  lockedMembers,
  type Member,
  readInvitation,
  sharingOf,
} from '../nats/server/team-members.js';
import { keepTrying } from '../sdk/keep-trying.js';
import type { Command, Flags, Texts } from './cli-command.js';
import { type Cli, cliOf, note, out, withClient, withConnection } from './command-context.js';
import { readNamed } from './option-parsers.js';
import { secretAnswer, table } from './output.js';

export function teamCommand(program: Command): void {
  const team = program
    .command('team')
    .description(
      'Shares your server, or names another for good: commands, hooks, MCP servers and clients use it, unless --nats or NATS_URL\n' +
        'names one.',
    )
    .examples('throughline team invite ann', 'throughline team join nats://127.0.0.1:4222');
  addInvitations(team);
  addMembers(team);
  addJoining(team);
}

interface InviteOptions extends Texts<'ca'> {
  readonly session?: readonly string[];
}

const CA_OPTION = ['--ca <file>', 'authority of its certificate, in PEM'] as const;

function addInvitations(team: Command): void {
  team
    .command('invite')
    .summary('let someone use your server')
    .description(
      'Prints the command for their machine, and an invitation that they paste there. It is shown only now. The first one makes\n' +
        'the server ask everyone for a key; your own commands, hooks and MCP servers have theirs.',
    )
    .argument('<name>', 'who is invited')
    .option('-s, --session <name...>', 'only these sessions, which need not exist yet')
    .option(...CA_OPTION)
    .examples('throughline team invite ann', 'throughline team invite bob --session demo api')
    .action(async (name: string, options: InviteOptions, command: Command) => {
      const cli = cliOf(command);
      const sessions = options.session?.flatMap((named) =>
        named.split(',').map((session) => token(session, '--session')),
      );
      await invite(cli, options, (members) => {
        if (members.some((member) => member.name === name))
          throw usageError(`${name} is a member: "throughline team rotate ${name}" makes a new invitation`);
        return { name: token(name, 'NAME'), since: new Date().toISOString(), sessions };
      });
    });

  team
    .command('rotate')
    .description('Ends the key of a member, and prints a new invitation.')
    .argument('<name>', 'the member')
    .option(...CA_OPTION)
    .examples('throughline team rotate ann')
    .action((name: string, options: Texts<'ca'>, command: Command) => {
      return invite(cliOf(command), options, (members) => memberOf(members, name));
    });
}

type Members = readonly Member[];

async function invite(
  cli: Cli,
  options: Texts<'ca'>,
  memberAmong: (members: Members) => Omit<Member, 'key'>,
): Promise<void> {
  const given = await authority(options);
  const { key, seed } = newUserKey();
  let name = '';
  const change = (members: Members) => {
    const member = memberAmong(members);
    name = member.name;
    return [...withoutMember(members, name), { ...member, key }];
  };
  const store = await changeMembers(cli, change, given);
  const { url, ca } = reachedBy(store);
  const by = `${userInfo().username}@${hostname()}`;
  out(`throughline team join ${url}\n${invitationText({ name, seed, url, by, ca })}`);
  note(`-- ${name} runs the command, and pastes the invitation when asked; it is shown only now`);
  if (sharingOf(store).listen === undefined)
    note('-- your server listens on this machine alone: "throughline up --help" shows --listen');
}

/** Returns how other machines reach the server, and the authority of its certificate, if one is known. */
function reachedBy(store: string): { readonly url: string; readonly ca?: string } {
  const { listen, ca: kept } = sharingOf(store);
  const { port, hostname: here } = new URL(serverOnStore(store)?.url ?? '');
  if (listen?.tls === undefined) {
    const isOpen = /^(0\.0\.0\.0|::)$/.test(listen?.host ?? '');
    return { url: `nats://${isOpen ? hostname() : here}:${port}` };
  }
  const pem = readFileSync(listen.tls.cert, 'utf8');
  const certificate = new X509Certificate(pem);
  const names = certificate.subjectAltName ?? '';
  const [, host = hostname()] = /(?:DNS|IP Address):([^\s,*]+)/.exec(names) ?? [];
  const ca = kept ?? (certificate.checkIssued(certificate) ? pem : undefined);
  return { url: `tls://${host}:${port}`, ...(ca !== undefined && { ca }) };
}

const BACK_WITHIN_MS = 10_000;

/**
 * Has the server take changed members, one change at a time, and waits until the services are back: the first member cuts all
 * connections.
 */
async function changeMembers(cli: Cli, change: (members: Members) => Members, ca?: string) {
  const store = ownStoreOf(cli);
  const lock = await lockedMembers(store);
  try {
    const sharing = sharingOf(store);
    keepSharing(store, { ...sharing, ...(ca && { ca }), members: change(sharing.members ?? []) });
    // Before the reload, after which the user's own processes need it.
    keptToken(store);
    await reloadAccess(store);
  } finally {
    lock.release();
  }
  await withClient(cli, ({ tools }) =>
    keepTrying(() => tools.sessionList({ brief: true, limit: 1 }), { timeoutMs: BACK_WITHIN_MS }),
  );
  return store;
}

function ownStoreOf({ server }: Cli): string {
  if (server.kind === 'own') return server.store;
  throw usageError(
    `members are managed on the machine of the server, by the one who runs it; in use here is ${serverText(server)}`,
  );
}

function withoutMember(members: Members, name: string): Members {
  return members.filter((member) => member.name !== name);
}

function memberOf(members: Members, name: string): Member {
  const member = members.find((other) => other.name === name);
  if (member !== undefined) return member;
  const names = members.map((other) => other.name).join(', ') || 'none';
  throw new ThroughlineError('not_found', `${name} is not a member; members: ${names}`);
}

async function authority({ ca }: Texts<'ca'>): Promise<string | undefined> {
  const pem = ca && (await readNamed(ca, `--ca ${ca}`)).toString('utf8');
  // It is handed on.
  if (pem?.includes('PRIVATE KEY') || pem?.includes('CERTIFICATE') === false)
    throw usageError(
      `--ca ${ca} is not a certificate: name the file of the authority, in PEM, without a key`,
    );
  return pem;
}

function addMembers(team: Command): void {
  team
    .command('members')
    .description('Lists who may use your server.')
    .option('--json', 'print an array of {name, key, since, sessions?, owner?}')
    .examples('throughline team members')
    .action((options: Flags<'json'>, command: Command) => {
      const members = sharingOf(ownStoreOf(cliOf(command))).members ?? [];
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
    .description('Ends the access and the connections of a member. Their statements stay.')
    .argument('<name>', 'the member')
    .examples('throughline team revoke ann')
    .action(async (name: string, _: object, command: Command) => {
      await changeMembers(cliOf(command), (members) => withoutMember(members, memberOf(members, name).name));
      out(`throughline team revoked ${name}`);
    });

  team
    .command('owner')
    .description('Says who may do everything.')
    .command('add')
    .description('Lets a member do everything but change members: also remove, archive, export and back up.')
    .argument('<name>', 'the member')
    .examples('throughline team owner add bob')
    .action(async (name: string, _: object, command: Command) => {
      await changeMembers(cliOf(command), (members) => {
        const owner: Member = { ...memberOf(members, name), owner: true };
        return members.map((other) => (other.name === name ? owner : other));
      });
      out(`throughline team owner ${name}`);
      note(`-- members are managed on this machine: ${name} cannot invite or revoke from another one`);
    });
}

type JoinOptions = Texts<'ca' | 'creds' | 'user'> & Flags<'project'>;

function addJoining(team: Command): void {
  team
    .command('join')
    .summary('use this server from now on')
    .description(
      'Uses this server from now on. It must answer now. An invitation is pasted when asked, or read from standard input.',
    )
    .argument('[url]', 'nats://host:port, or several with commas (default: as in the invitation)')
    .option(...CA_OPTION)
    .option('--project', 'only in this project, on all its branches and work trees')
    .option('--creds <file>', 'credentials, without an invitation')
    .option('--user <name>', 'user with a password, without an invitation')
    .examples('throughline team join nats://127.0.0.1:4222', 'throughline team join < invitation')
    .action(async (url: string | undefined, options: JoinOptions, command: Command) => {
      const cli = cliOf(command);
      if (url?.startsWith('tli_'))
        throw usageError(
          'this is an invitation, which other users here could read: ask for a new one, and paste it when asked',
        );
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
      const here = process.cwd();
      const known = serverInUse(stateDir, { directory: here });
      const { inboxPrefix } = cli.config.access;
      const found = await joining(
        url,
        { ...options, inboxPrefix },
        proven,
        known.kind === 'team' ? known : undefined,
      );
      const joined = joinTeam(options.project ? projectTeamDir(stateDir, here) : stateDir, found);
      removeStarts(stateDir);
      out(
        `throughline team joined ${shownAddress(joined)}${joined.as === undefined ? '' : ` as ${joined.as}`}`,
      );
    });

  team
    .command('leave')
    .description('Uses your own server again, or the usual one after --project.')
    .examples('throughline team leave')
    .action(() => {
      const stateDir = stateDirOf();
      const url = leaveTeam(stateDir, process.cwd());
      removeStarts(stateDir);
      out(url === undefined ? 'no team was joined' : `throughline team left ${shownAddress(url)}`);
    });
}

/** Returns what the user joins with, once the server has accepted it. */
async function joining(
  url: string | undefined,
  { creds, user, inboxPrefix, ...options }: JoinOptions & Pick<NatsAccess, 'inboxPrefix'>,
  proven: (joining: Joining) => Promise<Joining>,
  known: JoinedServer | undefined,
): Promise<Joining> {
  const ca = await authority(options);
  if (url !== undefined && (creds ?? user) !== undefined) {
    const access: NatsAccess =
      user === undefined
        ? { creds: resolve(creds ?? ''), inboxPrefix }
        : { user, password: await secretAnswer(`Password of ${user}: `), inboxPrefix };
    return proven({ url, as: user ?? userOf(access) ?? basename(creds ?? ''), ca, access });
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
  const { as: name = '', by = '', access: { nkey, ca: authorities } = {} } = known ?? {};
  if (url !== undefined && known !== undefined && nkey !== undefined)
    try {
      // The server that was joined before may have another address.
      const [seed, before] = [nkey, authorities].map((file) => file && readFileSync(file, 'utf8').trim());
      const invitation = { name, by, url: known.url, seed: seed ?? '', ca: before };
      const again = await proven(fromInvitation(invitation, url, ca));
      note('-- joined with the key that was here; "throughline team leave" comes before another invitation');
      return again;
    } catch (error) {
      // It is another one, or its key was replaced.
      fault = error;
    }
  const pasted = await secretAnswer('Invitation (tli_…): ');
  if (pasted === '') throw fault ?? usageError('name the server, or give the invitation on standard input');
  return proven(fromInvitation(readInvitation(pasted), url, ca));
}

const NO_TLS = /^(?:nats:\/\/|(?!\w+:\/\/))/i;

function fromInvitation(invitation: Invitation, url: string | undefined, ca: string | undefined): Joining {
  const { name, seed, by } = invitation;
  const isTls = invitation.url.startsWith('tls:');
  return {
    // A server behind a changed address must not be asked without TLS.
    url: url === undefined ? invitation.url : isTls ? url.replace(NO_TLS, 'tls://') : url,
    as: name,
    by,
    seed,
    ca: ca ?? invitation.ca,
    access: { inboxPrefix: inboxOf(name) },
  };
}

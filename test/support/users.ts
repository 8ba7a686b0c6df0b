import { randomBytes } from 'node:crypto';
import { PER_SESSION, type SessionLayout } from '../../src/contracts/names.js';
import type { NatsAccess } from '../../src/nats/connection/nats-access.js';
import type { AccessRole } from '../../src/nats/role-permissions.js';
import { cli } from './cli.js';
import { layoutFlags } from './layouts.js';
import { type PrivateNats, startPrivateNats } from './nats-server.js';

/** A server that lets in one user for each role, with the permissions that the command line prints and no more. */
export interface GuardedNats extends AsyncDisposable {
  readonly nats: PrivateNats;
  readonly url: string;
  /** How a user connects. */
  access(user: string): NatsAccess;
  /** The same as environment variables. */
  env(user: string): Record<string, string>;
}

export interface TestUser {
  readonly name: string;
  readonly role: AccessRole;
  /** Further arguments of `throughline admin permissions`. */
  readonly args?: readonly string[];
  /** Whether it stands in an account of its own, as `--account` prints it. */
  readonly ownAccount?: boolean;
}

/** The account of the streams and of all users that have none of their own. */
const ACCOUNT = 'THROUGHLINE';

/** `admin` may do anything: for what a test looks at. */
export async function startGuardedNats(
  given: readonly TestUser[],
  layout: SessionLayout = PER_SESSION,
): Promise<GuardedNats> {
  const users = given.map((user) => ({ ...user, args: [...(user.args ?? []), ...layoutFlags(layout)] }));
  const password = randomBytes(12).toString('hex');
  const together = users.filter(({ ownAccount }) => ownAccount !== true);
  const entries = await Promise.all(
    together.map(
      async (user) => `{ user: ${user.name}, password: "${password}", ${await printedFor(user)} }`,
    ),
  );
  const ofAccount = [`{ user: admin, password: "${password}" }`, ...entries].join('\n');
  const apart = await Promise.all(users.filter(({ ownAccount }) => ownAccount === true).map(accountFor));
  const exported = [...new Set(apart.flatMap(({ exported = '' }) => exported.split('\n')))];
  const extraConfig = `accounts {
    ${ACCOUNT} {
      jetstream: enabled
      users = [\n${ofAccount}\n]
      exports [\n${exported.join('\n')}\n]
    }
    ${apart
      .map(
        ({ user: { name }, imported, permissions }) => `${name} { imports [\n${imported}\n]
      users = [ { user: ${name}, password: "${password}", ${permissions} } ] }`,
      )
      .join('\n')}
  }`;
  const nats = await startPrivateNats({ extraConfig });
  const inbox = (user: string) => `_INBOX_${user}`;
  return {
    nats,
    url: nats.url,
    access: (user) => ({ user, password, inboxPrefix: inbox(user) }),
    env: (user) => ({
      NATS_URL: nats.url,
      NATS_USER: user,
      NATS_PASSWORD: password,
      THROUGHLINE_INBOX_PREFIX: inbox(user),
    }),
    [Symbol.asyncDispose]: () => nats.stop(),
  };
}

/** The three blocks that are printed for a user with an account of its own. */
async function accountFor(user: TestUser) {
  const printed = await printedFor({ ...user, args: [...(user.args ?? []), '--account', ACCOUNT] });
  const [, exported, imported, permissions] =
    /^#.*\nexports \[\n([^\]]*)\]\n#.*\nimports \[\n([^\]]*)\]\n#.*\n([\s\S]*)$/.exec(printed) ?? [];
  if (permissions === undefined) throw new Error(`not the three blocks: ${printed}`);
  return { user, exported, imported, permissions };
}

async function printedFor({ name, role, args = [] }: TestUser): Promise<string> {
  const { code, stdout, stderr } = await cli([
    'admin',
    'permissions',
    ...['--role', role, '--inbox-prefix', `_INBOX_${name}`],
    ...args,
  ]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

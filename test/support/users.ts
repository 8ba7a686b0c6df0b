import { randomBytes } from 'node:crypto';
import type { NatsAccess } from '../../src/nats/connection/nats-access.js';
import type { AccessRole } from '../../src/nats/server/role-permissions.js';
import { cli } from './cli.js';
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
}

/** `admin` may do anything: for what a test looks at. */
export async function startGuardedNats(users: readonly TestUser[]): Promise<GuardedNats> {
  const password = randomBytes(12).toString('hex');
  const entries = await Promise.all(
    users.map(async (user) => `{ user: ${user.name}, password: "${password}", ${await printedFor(user)} }`),
  );
  const all = [`{ user: admin, password: "${password}" }`, ...entries].join('\n');
  const nats = await startPrivateNats({
    extraConfig: `accounts { THROUGHLINE { jetstream: enabled, users = [\n${all}\n] } }`,
  });
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

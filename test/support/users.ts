import { randomBytes } from 'node:crypto';
import type { NatsAccess } from '../../src/nats/access.js';
import type { AccessRole } from '../../src/nats/permissions.js';
import { cli } from './cli.js';
import { startTestNats, type TestNats } from './nats-server.js';

/** A server that lets in one user for each role, with the permissions that the command line prints and no more. */
export interface GuardedNats extends AsyncDisposable {
  readonly nats: TestNats;
  readonly url: string;
  /** How a user connects. */
  access(user: string): NatsAccess;
  /** The same as environment variables. */
  env(user: string): Record<string, string>;
}

export interface TestUser {
  readonly name: string;
  readonly role: AccessRole;
  /** Further arguments of `throughline permissions`. */
  readonly args?: readonly string[];
}

/** `admin` may do anything: for what a test looks at. */
export async function startGuardedNats(users: readonly TestUser[]): Promise<GuardedNats> {
  const password = randomBytes(12).toString('hex');
  const printed = await Promise.all(users.map((user) => printedFor(user)));
  const entries = users.map(
    ({ name }, index) => `{ user: ${name}, password: "${password}", ${printed[index]} }`,
  );
  const admin = `{ user: admin, password: "${password}" }`;
  const nats = await startTestNats({
    extraConfig: `authorization { users = [\n${[admin, ...entries].join('\n')}\n] }`,
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
    'permissions',
    ...['--role', role, '--inbox-prefix', `_INBOX_${name}`],
    ...args,
  ]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

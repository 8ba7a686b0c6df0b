import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { TOKEN_FILE, tokenOf } from '../config/user-server.js';
import { writePrivateFile } from '../engine/files/user-state.js';
import { note } from './command-context.js';

/** The context of the `nats` command line that `up --auth` writes. */
const CONTEXT = 'throughline';

/**
 * Returns the token that the server on a store asks for. Makes one with `auth`, and removes it where `auth` is false; without
 * either, a server keeps the protection that it had.
 */
export function serverToken(store: string, auth: boolean | undefined): string | undefined {
  if (auth === false) rmSync(join(store, TOKEN_FILE), { force: true });
  const token = tokenOf(store);
  if (token !== undefined || auth !== true) return token;
  const made = randomBytes(24).toString('base64url');
  writePrivateFile(join(store, TOKEN_FILE), `${made}\n`);
  return made;
}

/** Configuration of nats-server that makes it ask for a token. */
export function tokenConfig(token: string | undefined): string | undefined {
  return token === undefined ? undefined : `authorization { token: ${JSON.stringify(token)} }`;
}

/** Writes the context by which `nats --context throughline` connects to a server that asks for a token. */
export function writeNatsContext(
  env: Readonly<Record<string, string | undefined>>,
  url: string,
  token: string,
): void {
  const { XDG_CONFIG_HOME: xdg } = env;
  const folder = join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.config'), 'nats', 'context');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const context = { description: 'throughline up --auth', url, token };
  writePrivateFile(join(folder, `${CONTEXT}.json`), `${JSON.stringify(context, undefined, 2)}\n`);
  note(
    `-- the server asks for a token, which throughline finds; for the nats command: nats --context ${CONTEXT}`,
  );
}

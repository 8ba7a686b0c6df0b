import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { makePrivateFolder, readRegularFile, writePrivateFile } from '../../engine/files/user-state.js';
import { permissionsBlock, permissionsOf } from './role-permissions.js';
import { lockStore, OWNER, serverOnStore, tokenOf } from './server-store.js';

/**
 * How the server on a store is shared: where it listens, and whose keys it takes. Kept with the store, and the only source of the
 * part of its configuration that a reload changes.
 */
export interface Sharing {
  readonly listen?: {
    readonly host: string;
    readonly port?: number | undefined;
    /** PEM files. Absent: no TLS. */
    readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  };
  /** PEM of the authority of its certificate, which invitations hold. */
  readonly ca?: string | undefined;
  /** Missing before the first invitation. */
  readonly members?: readonly Member[] | undefined;
}

export interface Member {
  readonly name: Token;
  /** Public; the seed is only in the invitation. */
  readonly key: string;
  readonly since: string;
  /** Default: all. */
  readonly sessions?: readonly Token[] | undefined;
  /** May do everything. */
  readonly owner?: true;
}

const SHARING_FILE = 'throughline-team.json';
const MAX_BYTES = 1024 * 1024;
export const ACCESS_FILE = 'throughline-access.conf';

export function sharingOf(storeDir: string): Sharing {
  const file = join(storeDir, SHARING_FILE);
  const read = readRegularFile(file, MAX_BYTES);
  if (read === undefined) return {};
  // An unreadable list must not open the server to everyone.
  if ('fault' in read) throw new ThroughlineError('store_unusable', `${file} ${read.fault}: repair it`);
  return JSON.parse(read.toString('utf8'));
}

export function keepSharing(storeDir: string, sharing: Sharing): void {
  writePrivateFile(join(storeDir, SHARING_FILE), JSON.stringify(sharing));
}

const LOCK_MS = 10_000;
const AGAIN_MS = 50;

/** Holds the lock under which the sharing of a store is changed. @throws ThroughlineError `store_in_use` */
export async function lockedMembers(storeDir: string) {
  const folder = join(storeDir, 'members');
  makePrivateFolder(folder);
  for (const until = performance.now() + LOCK_MS; ; await sleep(AGAIN_MS))
    try {
      return await lockStore(folder);
    } catch (error) {
      if (codeOf(error) !== 'store_in_use' || performance.now() > until) throw error;
    }
}

/** Writes who may connect to the server on a store, and how, where its configuration includes it. */
export function writeAccess(storeDir: string): void {
  const { listen, members } = sharingOf(storeDir);
  const { cert, key } = listen?.tls ?? {};
  const config = {
    ...(cert !== undefined && { tls: { cert_file: cert, key_file: key } }),
    ...authorization(tokenOf(storeDir), members),
  };
  const lines = Object.entries(config).map(([name, value]) => `${name} ${JSON.stringify(value)}\n`);
  writePrivateFile(join(storeDir, ACCESS_FILE), lines.join(''));
}

function authorization(token: string | undefined, members: readonly Member[] | undefined): object {
  if (token === undefined) return {};
  // Not for an empty list: a reload from users to a token leaves the keys of the users valid.
  if (members === undefined) return { authorization: { token } };
  const users = members.map(({ name, key, sessions, owner }) => {
    const permissions = permissionsOf('member', { inboxPrefix: inboxOf(name), sessions });
    return { nkey: key, ...(owner !== true && { permissions: permissionsBlock(permissions) }) };
  });
  return { authorization: { users: [{ user: OWNER, password: token }, ...users] } };
}

/** Returns the prefix of a member's reply subjects, so that no member receives another one's replies. */
export function inboxOf(name: string): string {
  return `_INBOX_${name}`;
}

/** Returns the URL of the server on a store for other clients, with its token; empty if it does not run. */
export function urlWithToken(storeDir: string): string {
  const url = serverOnStore(storeDir)?.url ?? '';
  const token = tokenOf(storeDir);
  if (token === undefined) return url;
  const user = sharingOf(storeDir).members === undefined ? '' : `${OWNER}:`;
  return url.replace('://', `://${user}${token}@`);
}

/** One member gets this once, to paste. */
export interface Invitation {
  readonly name: string;
  readonly seed: string;
  readonly url: string;
  /** Who runs the server. */
  readonly by: string;
  /** Authority of the server's certificate, in PEM, if no system knows it. */
  readonly ca?: string | undefined;
}

const MARK = 'tli_';
const INVITED = /(?:^|\s)tli_([\w-]+)/;

export function invitationText(invitation: Invitation): string {
  return MARK + Buffer.from(JSON.stringify(invitation)).toString('base64url');
}

/** @throws ThroughlineError `usage` unless the text is a whole invitation */
export function readInvitation(text: string): Invitation {
  try {
    const [, packed = ''] = INVITED.exec(text) ?? [];
    const invitation: Invitation = JSON.parse(Buffer.from(packed, 'base64url').toString('utf8'));
    if (!invitation.seed || !invitation.url) throw new Error('no key and address');
    return invitation;
  } catch (cause) {
    throw new ThroughlineError(
      'usage',
      `this is not a whole invitation: copy all of the line that begins with ${MARK}, to its end`,
      { cause },
    );
  }
}

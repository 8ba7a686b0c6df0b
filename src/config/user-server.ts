import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ThroughlineError } from '../contracts/errors.js';
import {
  createPrivateFile,
  makePrivateFolder,
  readRegularFile,
  writePrivateFile,
} from '../engine/files/user-state.js';
import type { NatsAccess } from '../nats/connection/nats-access.js';
import { type LockedServer, serverOnStore } from '../nats/server/store-notes.js';

/**
 * The one server of a user: `throughline up` starts it on a store in the user's state directory, where all commands,
 * hooks, MCP servers and clients find it by default.
 */

/** Used if no server runs and none is named. */
export const DEFAULT_URL = 'nats://127.0.0.1:4222';
export const TOKEN_FILE = 'throughline-token';
/** Kept, so that open pages go on after a restart. */
export const INSPECTOR_TOKEN_FILE = 'inspector-token';
const MAX_TOKEN = 256;

/** Returns the default store of `up`. */
export function userStore(stateDir: string): string {
  return join(stateDir, 'server');
}

/** The server that hooks, commands, MCP servers and clients use. */
export type ServerInUse =
  /** The user's own one; `running` is missing while it does not run. */
  | { readonly kind: 'own'; readonly store: string; readonly running?: { url: string; pid: number } }
  | { readonly kind: 'named'; readonly url: string; readonly by: '--nats' | 'NATS_URL' }
  | { readonly kind: 'team'; readonly url: string };

interface NamedServer {
  /** The value of `--nats`. */
  readonly nats?: string | undefined;
  /** The value of `NATS_URL`. */
  readonly natsUrl?: string | undefined;
}

/** Returns the server that is named, by `--nats`, `NATS_URL` or `team join` in this order; else the user's own. */
export function serverInUse(stateDir: string, { nats, natsUrl }: NamedServer = {}): ServerInUse {
  if (nats !== undefined) return { kind: 'named', url: nats, by: '--nats' };
  if (natsUrl !== undefined) return { kind: 'named', url: natsUrl, by: 'NATS_URL' };
  const team = joinedTeam(stateDir);
  if (team !== undefined) return { kind: 'team', url: team };
  const store = userStore(stateDir);
  const server = serverOnStore(store);
  return {
    kind: 'own',
    store,
    ...(server !== undefined && { running: { url: serverUrl(server), pid: server.pid } }),
  };
}

/**
 * Returns the key of an installation for what is kept for it on this machine. It is the same on every port, with every
 * token and after every restart, and holds no credentials.
 */
export function installationKey(server: ServerInUse): string {
  if (server.kind === 'own') return `own:${storeId(server.store)}`;
  const hosts = server.url
    .split(/,(?=[a-z][a-z\d+.-]*:\/\/)/i)
    .map((each) => each.replace(/^(?:[a-z][a-z\d+.-]*:\/\/)?(?:.*@)?/is, ''));
  return `${server.kind}:${hosts.join(',')}`;
}

/** Describes the server and its owner, for `status`, `connect` and the first line of hook.log. */
export function serverText(server: ServerInUse): string {
  if (server.kind === 'own') {
    const { running } = server;
    return running === undefined
      ? `your own server, which does not run (store ${server.store})`
      : `your own server at ${running.url}, process ${running.pid}`;
  }
  const by = server.kind === 'team' ? '"throughline team join"' : server.by;
  return `the server that ${by} names, ${installationKey(server).replace(/^\w+:/, '')}`;
}

const TEAM_FILE = 'team';
const MAX_URL = 4096;

function joinedTeam(stateDir: string): string | undefined {
  const read = readRegularFile(join(stateDir, TEAM_FILE), MAX_URL);
  return read instanceof Buffer ? read.toString('utf8').trim() || undefined : undefined;
}

const ID_FILE = 'throughline-store-id';

/** Returns the id of a store, which it keeps for life; gives it one if it has none. */
export function storeId(store: string): string {
  const file = join(store, ID_FILE);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const read = readRegularFile(file, MAX_TOKEN);
    const id = read instanceof Buffer ? read.toString('utf8').trim() : '';
    if (/^[\da-f]{16}$/.test(id)) return id;
    if (read !== undefined) break;
    makePrivateFolder(store);
    createPrivateFile(file, `${randomBytes(8).toString('hex')}\n`);
  }
  throw new ThroughlineError('store_unusable', `${file} holds no id of a store: remove it, and start again`);
}

/** The stores that `up` was given by name, one on a line, so that `down` finds what runs there. */
const STORES_FILE = 'stores';
const MAX_STORES = 64 * 1024;

/** Notes a store that is not the default one. The newest come first. */
export function noteStore(stateDir: string, store: string): void {
  makePrivateFolder(stateDir);
  const lines = [store, ...notedStores(stateDir).filter((each) => each !== store)].slice(0, 100);
  writePrivateFile(join(stateDir, STORES_FILE), `${lines.join('\n')}\n`);
}

/** Returns the noted stores on which a server runs. */
export function serversElsewhere(stateDir: string): { readonly store: string; readonly url: string }[] {
  return notedStores(stateDir).flatMap((store) => {
    const server = serverOnStore(store);
    return server === undefined ? [] : [{ store, url: serverUrl(server) }];
  });
}

function notedStores(stateDir: string): string[] {
  const read = readRegularFile(join(stateDir, STORES_FILE), MAX_STORES);
  return read instanceof Buffer ? read.toString('utf8').split('\n').filter(Boolean) : [];
}

/**
 * Returns the URL of the user's server, or the default URL if it does not run. Includes the server's token, unless the
 * caller has credentials.
 */
export function usualUrl(stateDir: string, { user, token, nkey, creds }: NatsAccess = {}): string {
  const store = userStore(stateDir);
  const server = serverOnStore(store);
  if (server === undefined) return DEFAULT_URL;
  const given = user ?? token ?? nkey ?? creds;
  return serverUrl(server, given === undefined ? tokenOf(store) : undefined);
}

export function serverUrl({ host, port }: Pick<LockedServer, 'host' | 'port'>, token?: string): string {
  const access = token === undefined ? '' : `${token}@`;
  return `nats://${access}${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the token of the server on a store, or that of its inspector; undefined if it has none. */
export function tokenOf(store: string, file = TOKEN_FILE): string | undefined {
  const read = readRegularFile(join(store, file), MAX_TOKEN);
  const token = read instanceof Buffer ? read.toString('utf8').trim() : '';
  return /^[\w-]{16,}$/.test(token) ? token : undefined;
}

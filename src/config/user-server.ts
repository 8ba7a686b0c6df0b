import { join } from 'node:path';
import { makePrivateFolder, readRegularFile, writePrivateFile } from '../engine/files/user-state.js';
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

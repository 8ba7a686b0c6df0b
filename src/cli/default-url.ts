import { readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { highestLock, serverOnStore } from '../nats-server/store-notes.js';

/** The server of `throughline up`, where no other is named. */
export const DEFAULT_URL = 'nats://127.0.0.1:4222';

/** The folder in which `up` keeps what its server stores, unless `--store` says otherwise. */
export const DEFAULT_STORE = '.throughline';

/** A folder that came with a repository must not send what is published to another machine. */
const THIS_MACHINE: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/**
 * The server that `throughline up` has started in a folder or in one above it, up to the top of its git work tree, whatever
 * its port; else the default one.
 */
export function usualUrl(directory: string): string {
  for (const store of storesFrom(directory)) {
    const server = serverOnStore(store);
    if (server === undefined || !THIS_MACHINE.has(server.host)) continue;
    return `nats://${server.host.includes(':') ? `[${server.host}]` : server.host}:${server.port}`;
  }
  return DEFAULT_URL;
}

/**
 * The stores on which `up` has run in a folder or in one above it, up to the top of its git work tree; the nearest first.
 * Above, only those of the same user: anyone may make one in `/tmp`.
 */
export function* storesFrom(directory: string): Generator<string> {
  const here = resolve(directory);
  for (let folder = here; ; folder = dirname(folder)) {
    const store = join(folder, DEFAULT_STORE);
    const isStore = namesIn(store).length > 0 && highestLock(store) > 0;
    if (isStore && (folder === here || isOurs(store))) yield store;
    if (dirname(folder) === folder || namesIn(folder).includes('.git')) return;
  }
}

/** Where `up` keeps its data if it is not told: in the store of the project, else in one that it makes in this folder. */
export function usualStore(directory: string): string {
  const [nearest = resolve(directory, DEFAULT_STORE)] = storesFrom(directory);
  return nearest;
}

function isOurs(path: string): boolean {
  const user = process.getuid?.();
  return user === undefined || statSync(path).uid === user;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

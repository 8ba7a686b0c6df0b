import { rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { ThroughlineError } from '../contracts/errors.js';
import {
  makePrivateFolder,
  projectStateDir,
  textOrNone,
  writePrivateFile,
} from '../engine/files/user-state.js';
import type { JoinedServer, NatsAccess, NatsAddress } from '../nats/connection/nats-access.js';
import { type ProvenServer, serverOnStore, storeId } from '../nats/server/server-store.js';
import { defined } from '../shared/collections.js';
import { ifPossible, isObject, jsonOf, withoutCredentials } from '../shared/text.js';
import { commonFolder, gitAbove } from './git-repository.js';

/**
 * Which server is in use: one that the user has named, else the user's own one, which `throughline up` starts on a store in
 * the user's state directory. Never whatever listens on a port: that may be another user's.
 */

export function userStore(stateDir: string): string {
  return join(stateDir, 'server');
}

export type ServerInUse =
  /** The user's own one; `running` is missing while it does not run. */
  | { readonly kind: 'own'; readonly store: string; readonly running?: ProvenServer }
  | { readonly kind: 'named'; readonly url: string; readonly by: '--nats' | 'NATS_URL' }
  | ({ readonly kind: 'team'; readonly isOfProject?: true } & JoinedServer);

interface NamedServer {
  readonly nats?: string | undefined;
  readonly natsUrl?: string | undefined;
  /** The folder that one works in, whose project may have joined another server. */
  readonly directory?: string | undefined;
}

/** Returns the server that is named, by `--nats`, `NATS_URL` or `team join` in this order; else the user's own. */
export function serverInUse(stateDir: string, { nats, natsUrl, directory }: NamedServer = {}): ServerInUse {
  if (nats !== undefined) return { kind: 'named', url: nats, by: '--nats' };
  if (natsUrl !== undefined) return { kind: 'named', url: natsUrl, by: 'NATS_URL' };
  const team = joinedTeam(stateDir, directory);
  return team === undefined ? ownServer(userStore(stateDir)) : { kind: 'team', ...team };
}

export function ownServer(store: string): ServerInUse & { readonly kind: 'own' } {
  const running = serverOnStore(store);
  return { kind: 'own', store, ...(running !== undefined && { running }) };
}

export function addressOf(server: ServerInUse): NatsAddress {
  if (server.kind === 'own') return { store: server.store };
  return server.kind === 'team' ? server : server.url;
}

/**
 * Returns the key of an installation for what is kept for it on this machine: the id of the store of the user's own server,
 * else the hosts of the one that is named, by whatever way. It is the same with every token and after every restart.
 */
export function installationKey(server: ServerInUse): string {
  if (server.kind === 'own') return `own:${storeId(server.store)}`;
  const hosts = hostsOf(server.url).split(',');
  const isWhole = (host: string) => /:\d+$/.test(host);
  return `named:${hosts.map((host) => (isWhole(host) ? host : `${host}:4222`)).join(',')}`;
}

/** Describes the server and its owner in one line without credentials, as they are now. */
export function serverText(server: ServerInUse): string {
  if (server.kind === 'own') {
    const { running, store } = ownServer(server.store);
    const whose = `the server of ${userInfo().username}`;
    return running === undefined
      ? `${whose}, which does not run (store ${store})`
      : `${whose} at ${running.url}, process ${running.pid}`;
  }
  const hosts = hostsOf(server.url);
  if (server.kind === 'named') return `${hosts}, named by ${server.by}`;
  const { by, as, isOfProject } = server;
  const whose = by === undefined ? hosts : `the server of ${by} at ${hosts}`;
  const project = isOfProject ? ' --project' : '';
  return `${whose}, named by "throughline team join${project}"${as === undefined ? '' : `, as ${as}`}`;
}

function hostsOf(url: string): string {
  return withoutCredentials(url)
    .split(',')
    .map((server) => server.replace(/^[a-z][a-z\d+.-]*:\/\//i, '').replace(/\/$/, ''))
    .join(',')
    .toLowerCase();
}

const TEAM_FILE = 'team';
const KEY_FILE = 'team.nk';
const CA_FILE = 'team-ca.pem';
const MAX_BYTES = 64 * 1024;

/** Returns the folder for the server that the project of a folder has joined, on all its branches and work trees. */
export function projectTeamDir(stateDir: string, directory: string): string {
  const git = gitAbove(directory);
  return projectStateDir(stateDir, git === undefined ? directory : dirname(commonFolder(git) ?? git));
}

type Joined = JoinedServer & Pick<ServerInUse & { kind: 'team' }, 'isOfProject'>;

/** Returns the server that was joined for the project of a folder, else for all. */
function joinedTeam(stateDir: string, directory?: string): Joined | undefined {
  const ofProject = directory && joinedIn(projectTeamDir(stateDir, directory));
  return ofProject ? { ...ofProject, isOfProject: true } : joinedIn(stateDir);
}

function joinedIn(folder: string): JoinedServer | undefined {
  const text = textOrNone(join(folder, TEAM_FILE), MAX_BYTES).trim();
  if (text === '') return undefined;
  const joined = jsonOf(text);
  if (isJoined(joined)) return joined;
  const fix = '"throughline team leave" removes it, then join again';
  throw new ThroughlineError('config_invalid', `${join(folder, TEAM_FILE)} is damaged: ${fix}`);
}

function isJoined(value: unknown): value is JoinedServer {
  return isObject(value) && typeof value.url === 'string' && isObject(value.access);
}

/** A user joins with this; a server that asks for nothing needs only the URL. */
export interface Joining extends Pick<JoinedServer, 'url' | 'as' | 'by'> {
  readonly seed?: string | undefined;
  readonly ca?: string | undefined;
  /** A server that someone else runs may take a user or credentials. */
  readonly access?: NatsAccess | undefined;
}

/** Names a server for good in a folder of the user: it is used wherever `--nats` and `NATS_URL` name none. */
export function joinTeam(folder: string, { url, as, by, seed, ca, access }: Joining): JoinedServer {
  makePrivateFolder(folder);
  const kept = (name: string, text: string | undefined) => {
    if (text === undefined) return undefined;
    const file = join(folder, name);
    writePrivateFile(file, `${text}\n`);
    return file;
  };
  const files = defined({ nkey: kept(KEY_FILE, seed), ca: kept(CA_FILE, ca) });
  const joined = { url, ...defined({ as, by }), access: { ...access, ...files } };
  kept(TEAM_FILE, JSON.stringify(joined));
  return joined;
}

/** Returns the URL of the team's server that was left; `undefined` if none was joined. */
export function leaveTeam(stateDir: string, directory?: string): string | undefined {
  const ofProject = directory && projectTeamDir(stateDir, directory);
  const folder = ofProject && textOrNone(join(ofProject, TEAM_FILE), MAX_BYTES) !== '' ? ofProject : stateDir;
  // A damaged file is removed, too.
  const team = ifPossible(() => joinedIn(folder));
  for (const name of [TEAM_FILE, KEY_FILE, CA_FILE]) rmSync(join(folder, name), { force: true });
  return team?.url;
}

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import {
  type Authenticator,
  type ConnectionOptions,
  credsAuthenticator,
  nkeyAuthenticator,
  nkeys,
} from 'nats';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';
import { defined } from '../../shared/collections.js';
import { isObject, jsonOf, withoutCredentials } from '../../shared/text.js';
import { OWNER, serverNameOf, serverOnStore, tokenOf } from '../server/server-store.js';
import type { DialOptions } from './ending-transport.js';
import { START_ONE, START_THERE } from './nats-errors.js';

/** Credentials and encryption of the connection, with their variables; the `nats` CLI reads those with `NATS_` too. */
export interface NatsAccess {
  /** User name (`NATS_USER`), with `password` (`NATS_PASSWORD`). */
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** (`NATS_TOKEN`) */
  readonly token?: string | undefined;
  /** File with the seed of a user's NKey (`NATS_NKEY`). Read again at each reconnect. */
  readonly nkey?: string | undefined;
  /** File with a user's JWT and seed (`NATS_CREDS`). Read again at each reconnect. */
  readonly creds?: string | undefined;
  /** PEM file of trusted authorities (`NATS_CA`). Default: Node's. */
  readonly ca?: string | undefined;
  /** PEM files of a client certificate and its key (`NATS_CERT`, `NATS_KEY`). */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Start TLS before the server's greeting (`THROUGHLINE_TLS_FIRST`): its `handshake_first`. */
  readonly tlsFirst?: boolean | undefined;
  /** Prefix of reply subjects (`THROUGHLINE_INBOX_PREFIX`). Default: `_INBOX`. */
  readonly inboxPrefix?: string | undefined;
}

/**
 * The server on a store of this user. It is looked for at each attempt to connect, so that a restart on another port or with
 * another token is followed, and nothing is sent to a process that is not proven to be that server.
 */
export interface OwnStore {
  readonly store: string;
}

/** The server that the user has joined, with the access that was recorded then. */
export interface JoinedServer {
  readonly url: string;
  /** Whom the recorded credentials name; without them, those of the environment count. */
  readonly as?: string | undefined;
  readonly by?: string | undefined;
  readonly access: NatsAccess;
}

/** `nats://host:port`, several separated by commas; the user's own server; or the one that the user has joined. */
export type NatsAddress = string | OwnStore | JoinedServer;

export function shownAddress(address: NatsAddress): string {
  if (typeof address === 'string') return withoutCredentials(address, HIDDEN);
  if ('url' in address) return shownAddress(address.url);
  return serverOnStore(address.store)?.url ?? address.store;
}

/** Returns an address without what is recorded with it, and the access that counts. */
function withRecorded(address: JoinedServer, given: NatsAccess): readonly [string, NatsAccess] {
  const { user, password, token, nkey, creds, ...rest } = given;
  return [address.url, { ...(address.as === undefined ? given : rest), ...address.access }];
}

const CREDS_NAMED = 'NATS_CREDS or --creds';
const HIDDEN = '***@';
const SCHEMES: ReadonlySet<string> = new Set(['nats://', 'tls://']);
const INBOX_PREFIX = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;
const SEED = /\bSU[A-Z2-7]{56}\b/;
const CREDS = /-----BEGIN NATS USER JWT-----[\s\S]*-----BEGIN USER NKEY SEED-----\s*SU[A-Z2-7]{56}\s/;
const PEM = /-----BEGIN [A-Z ]+-----/;

/**
 * Returns the client's options for these servers (`nats://host:port` or `tls://host:port`, separated by commas) and this
 * access. The user's own server needs none: its store has the token. A URL may contain `user:password@` or `token@`, which the
 * client itself ignores. Files are read once immediately, so that a missing one is reported early.
 *
 * @throws ThroughlineError `config_invalid`, with the variable's name: an unusable file, half a pair, two kinds of credentials
 */
export function accessOptions(
  address: NatsAddress,
  around: NatsAccess,
): Partial<ConnectionOptions> & DialOptions {
  if (typeof address !== 'string' && 'store' in address) return ownServerOptions(address, around);
  const [url, given] = typeof address === 'string' ? [address, around] : withRecorded(address, around);
  const isJoined = typeof address !== 'string';
  const {
    servers,
    access,
    tls: wanted,
  } = serversOf(url, given, isJoined ? 'the address' : 'NATS_URL or --nats');
  requireConsistent(access);
  const { user, password, token, inboxPrefix } = access;
  const tls = tlsOptions(access, wanted, servers);
  const authenticator = fileAuthenticator(access);
  return {
    servers,
    ...(user !== undefined && password !== undefined && { user, pass: password }),
    ...defined({ token, authenticator, tls, inboxPrefix, otherwise: isJoined ? START_THERE : undefined }),
  };
}

function ownServerOptions({ store }: OwnStore, access: NatsAccess): Partial<ConnectionOptions> & DialOptions {
  const { inboxPrefix } = access;
  requireConsistent({ inboxPrefix });
  const located = () => {
    const found = serverOnStore(store);
    if (found !== undefined) return { ...found, address: new URL(found.url) };
    throw new ThroughlineError('unavailable', `your server on ${store} does not run: ${START_ONE}`, {
      details: { fix: START_ONE },
    });
  };
  return {
    servers: [located().address.host],
    // Called at each attempt. The token is also the owner's password on a server with members.
    authenticator() {
      const token = tokenOf(store) ?? '';
      return { auth_token: token, user: OWNER, pass: token };
    },
    locate() {
      const { address, pid } = located();
      const greeting = `"server_name":"${serverNameOf(store)}"`;
      return { hostname: address.hostname, port: Number(address.port), greeting, pid };
    },
    ...(inboxPrefix !== undefined && { inboxPrefix }),
  };
}

function serversOf(url: string, given: NatsAccess, field: string) {
  const servers: string[] = [];
  let access = given;
  let tls = false;
  for (const server of url.split(',').map((server) => server.trim())) {
    // Standard URL rules: credentials end at the last @, and the first colon separates user and password.
    const [, scheme = '', credentials, host = server] =
      /^([a-z][a-z\d+.-]*:\/\/)?(?:([^/]*)@)?(.*)$/is.exec(server) ?? [];
    tls ||= scheme.toLowerCase() === 'tls://';
    requireServer(host, scheme, url, field);
    servers.push(host);
    if (credentials === undefined) continue;
    const [, name, password] = (/^([^:]*)(?::(.*))?$/s.exec(credentials) ?? []).map(
      (part) => part && decoded(part),
    );
    access = { ...access, ...(password === undefined ? { token: name } : { user: name, password }) };
  }
  return { servers, access, tls };
}

/** Rejects an invalid port or scheme, on which the client would fail deep inside Node. */
function requireServer(host: string, scheme: string, url: string, field: string): void {
  if (/^\d+$/.test(host)) throw wrong(`${field} is ${host}, a port alone: use nats://127.0.0.1:${host}`);
  const [isHost, port = 4222] = /^(?:\[[\da-f:.]+\]|[^:/@\s]+)(?::(\d+))?\/?$/i.exec(host) ?? [];
  const isScheme = scheme === '' || SCHEMES.has(scheme.toLowerCase());
  if (isHost !== undefined && isScheme && Number(port) >= 1 && Number(port) <= 65_535) return;
  // Redacted as a whole: what looks like a server may be part of a password.
  const shown = JSON.stringify(withoutCredentials(url, HIDDEN));
  const escaped = url.includes('@')
    ? '; in a user or a password write / as %2F and a comma as %2C, or use NATS_USER and NATS_PASSWORD'
    : '';
  throw wrong(
    `${field} is ${shown}: use nats://host:port or tls://host:port, with a port from 1 to 65535${escaped}`,
  );
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function requireConsistent({ user, password, token, nkey, creds, cert, key, inboxPrefix }: NatsAccess): void {
  const ways = { NATS_USER: user, NATS_TOKEN: token, NATS_NKEY: nkey, NATS_CREDS: creds };
  const given = Object.entries(ways).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length > 1)
    throw wrong(
      `${given.join(' and ')} are set, by variables or in the URL: use only one way to authenticate`,
    );
  if (user === undefined && password !== undefined)
    throw wrong('NATS_PASSWORD is set without NATS_USER: give both');
  if (user !== undefined && password === undefined)
    throw wrong('NATS_USER is set without NATS_PASSWORD: give both, or NATS_TOKEN alone');
  if (cert === undefined && key !== undefined) throw wrong('NATS_KEY is set without NATS_CERT: give both');
  if (cert !== undefined && key === undefined) throw wrong('NATS_CERT is set without NATS_KEY: give both');
  if (inboxPrefix !== undefined && !INBOX_PREFIX.test(inboxPrefix)) {
    throw wrong(
      `THROUGHLINE_INBOX_PREFIX is ${JSON.stringify(inboxPrefix)}: use names of A-Z a-z 0-9 _ and -, separated by dots`,
    );
  }
}

export function newUserKey(): { readonly key: string; readonly seed: string } {
  const pair = nkeys.createUser();
  return { key: pair.getPublicKey(), seed: new TextDecoder().decode(pair.getSeed()) };
}

/** Returns the account of credentials: the same for all its users, and wherever its server is. */
export function accountOf(access: NatsAccess): string | undefined {
  const jwt = jwtIn(access);
  // A signing key of the account may have issued it.
  const issuer = isObject(jwt?.nats) ? jwt.nats.issuer_account : undefined;
  return jwt && String(issuer ?? jwt.iss);
}

/** Returns the name of the user whose credentials these are. */
export function userOf(access: NatsAccess): string | undefined {
  const name = jwtIn(access)?.name;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function jwtIn({ creds }: NatsAccess) {
  if (creds === undefined) return undefined;
  const words = readFile(CREDS_NAMED, creds, CREDS, 'the JWT and the seed of a user').split(/\s/);
  const [, payload = ''] = words.map((word) => word.split('.')).find(({ length }) => length === 3) ?? [];
  const jwt = jsonOf(Buffer.from(payload, 'base64url'));
  return isObject(jwt) ? jwt : undefined;
}

function fileAuthenticator({ nkey, creds }: NatsAccess): Authenticator | undefined {
  if (nkey !== undefined) {
    const seed = readEachTime(
      'the key (NATS_NKEY, or that of "team join")',
      nkey,
      SEED,
      'the seed of a user, SU…',
    );
    return nkeyAuthenticator(() => new TextEncoder().encode(SEED.exec(seed())?.[0]));
  }
  if (creds !== undefined) {
    const text = readEachTime(CREDS_NAMED, creds, CREDS, 'the JWT and the seed of a user');
    return credsAuthenticator(() => new TextEncoder().encode(text()));
  }
  return undefined;
}

function tlsOptions({ ca, cert, key, tlsFirst }: NatsAccess, wanted: boolean, servers: readonly string[]) {
  if (ca === undefined && cert === undefined && tlsFirst !== true && !wanted) return undefined;
  return {
    ...(ca !== undefined && { ca: readFile('NATS_CA or --ca', ca, PEM, 'certificates in PEM') }),
    ...(cert !== undefined && { cert: readFile('NATS_CERT', cert, PEM, 'a certificate in PEM') }),
    ...(key !== undefined && { key: readFile('NATS_KEY', key, PEM, 'a private key in PEM') }),
    ...(tlsFirst === true && { handshakeFirst: true }),
    // An option of Node's TLS, which the client passes through.
    checkServerIdentity: identityAmong(servers.map(addressOf).filter((host) => isIP(host) !== 0)),
  };
}

/** Checks the certificate against IP addresses, which the client does not tell Node: it would check for "localhost". */
function identityAmong(addresses: readonly string[]): typeof checkServerIdentity {
  return (host, certificate) => {
    const unnamed = host === 'localhost' && addresses.length > 0;
    const faults = (unnamed ? [...addresses, host] : [host]).map((name) =>
      checkServerIdentity(name, certificate),
    );
    return faults.includes(undefined) ? undefined : faults[0];
  };
}

function addressOf(server: string): string {
  return server
    .replace(/^[a-z]+:\/\//, '')
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}

/** Reads a file at each call; falls back to the old content, since an error would close the connection for good. */
function readEachTime(...file: Parameters<typeof readFile>): () => string {
  let text = readFile(...file);
  return () => {
    try {
      text = readFile(...file);
    } catch {
      // The server rejects outdated content, and the file is read again.
    }
    return text;
  };
}

/** Reads a file that must match `pattern`. Its content never appears in an error. */
function readFile(variable: string, path: string, pattern: RegExp, expected: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw wrong(`${variable}: ${path} cannot be read (${messageOf(cause)})`, cause);
  }
  if (pattern.test(text)) return text;
  throw wrong(`${variable}: ${path} does not hold ${expected}`);
}

function wrong(message: string, cause?: unknown): ThroughlineError {
  return new ThroughlineError('config_invalid', message, { cause });
}

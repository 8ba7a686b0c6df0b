import { ErrorCode as NatsCode, NatsError } from 'nats';
import type { ErrorCode } from '../../contracts/error-codes.js';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';

export const API = {
  streamNotFound: 10059,
  /** All servers that hold the stream are down. */
  streamOffline: 10118,
  /** The cluster or the stream has no leader. */
  notAvailable: 10008,
  streamNameInUse: 10058,
  consumerNotFound: 10014,
  messageNotFound: 10037,
  jetStreamOff: 10039,
  otherStream: 10060,
  deleteFailed: 10057,
  /** For a stream in memory. */
  sequenceNotFound: 10043,
  streamSealed: 10109,
  subjectsOverlap: 10065,
  replicasUnsupported: 10074,
} as const;

/** An expected sequence is not the last one, or, in a cluster, another append that expects the same is in flight. */
export const WRONG_SEQUENCE: ReadonlySet<number | undefined> = new Set([10071, 10164]);

export const MAKE_ROOM =
  'raise max_file_store of the server, the limit of its account or max_bytes of the stream, or delete what you no longer need: nats stream ls';

/** After a failed write a stream rejects all writes until the server restarts, even with free space. */
export const MAKE_ROOM_ON_DISK =
  'free space on the disk of the NATS server, and restart the server if it still cannot write ("throughline up" does so by itself)';

/** Codes for exhausted resources, each with a fix. */
const NO_ROOM: ReadonlyMap<number | undefined, string> = new Map([
  // Limits of the account, the server, memory, the disk, and the stream.
  ...[10002, 10023, 10028, 10047, 10077].map((code) => [code, MAKE_ROOM] as const),
  [
    10026,
    'raise max_consumers of the account or the stream, or delete what you no longer need: nats consumer ls',
  ],
  [10027, 'raise max_streams of the account, or delete what you no longer need: nats stream ls'],
  // The server could not create the files of a consumer or stream; its log has the reason.
  [10012, MAKE_ROOM_ON_DISK],
  [10049, MAKE_ROOM_ON_DISK],
]);

/** Other codes with an error of ours, and a fix. */
const REFUSALS: ReadonlyMap<number | undefined, readonly [ErrorCode, string]> = new Map([
  [
    API.subjectsOverlap,
    [
      'config_invalid',
      'another stream takes these subjects: find it with nats stream ls --subject, give it others or delete it',
    ],
  ],
  [
    API.replicasUnsupported,
    [
      'config_invalid',
      'a single server keeps one copy: restore with --replicas 1, and start services with THROUGHLINE_REPLICAS=1',
    ],
  ],
  [API.streamOffline, ['unavailable', 'start the servers of the cluster that hold it']],
]);

export function refusal(
  doing: string,
  { code, text }: { readonly code: number | undefined; readonly text: string },
  cause?: unknown,
): ThroughlineError {
  const [ours, fix] = REFUSALS.get(code) ?? (['store_full', NO_ROOM.get(code)] as const);
  return fix === undefined
    ? new ThroughlineError('internal', `${doing}: ${text}`, { cause })
    : new ThroughlineError(ours, `${doing}: ${text}; ${fix}`, { cause });
}

export function takenByAnother(subjects: string, owners: string, ours: string): ThroughlineError {
  return new ThroughlineError(
    'config_invalid',
    `${subjects} belongs to stream ${ours}, but is taken by stream ${owners} of another application: ${KEEP_APART}`,
    { details: { subjects, owners, stream: ours } },
  );
}

export const KEEP_APART = 'give one of the two an account of its own, or the other stream other subjects';

export function apiCode(error: unknown): number | undefined {
  return error instanceof NatsError ? error.api_error?.err_code : undefined;
}

const MISSING: ReadonlySet<number | undefined> = new Set([
  API.streamNotFound,
  API.consumerNotFound,
  API.messageNotFound,
]);

/** Resolves to undefined if the stream, consumer or message does not exist. With `doing`, other errors become ours. */
export async function ifExists<T>(request: Promise<T>, doing?: string): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (MISSING.has(apiCode(error))) return undefined;
    throw doing === undefined ? error : toThroughlineError(error, doing);
  }
}

/** True if nothing listens on a request's subject, or no stream has it; JetStream replies may have the same status. */
export function isNoResponders(error: unknown): boolean {
  return error instanceof NatsError && error.code === NatsCode.NoResponders && error.api_error === undefined;
}

/** Maps NATS errors to ours. Our own errors pass unchanged. */
export function toThroughlineError(error: unknown, doing: string): ThroughlineError {
  if (error instanceof ThroughlineError) return error;
  const fault = (code: ErrorCode, why: string) =>
    new ThroughlineError(code, `${doing}: ${why}`, { cause: error });
  if (error instanceof NatsError) {
    const text = error.api_error?.description ?? error.message;
    // Checked first: the client reports some of these as "no responders".
    if (error.api_error !== undefined && NO_ROOM.has(error.api_error.err_code)) {
      return refusal(doing, { code: error.api_error.err_code, text }, error);
    }
    switch (error.code) {
      case NatsCode.Timeout:
      case NatsCode.ConnectionClosed:
      case NatsCode.ConnectionDraining:
      case NatsCode.ConnectionRefused:
      case NatsCode.ConnectionTimeout:
      case NatsCode.Disconnect:
      case NatsCode.NoResponders:
        return fault('unavailable', `NATS does not answer (${error.code})`);
      case NatsCode.AuthorizationViolation:
        return fault('auth_failed', `NATS refused it (${text})`);
      case NatsCode.PermissionsViolation:
        return permissionDenied(doing, error);
      case NatsCode.MaxPayloadExceeded:
        return fault('too_large', 'larger than the server accepts in one message');
      default:
        return refusal(doing, { code: apiCode(error), text }, error);
    }
  }
  return fault('internal', messageOf(error));
}

export function permissionDenied(doing: string, error: NatsError): ThroughlineError {
  const { operation, subject } = error.permissionContext ?? {};
  const what =
    subject === undefined
      ? ''
      : ` to ${operation === 'subscription' ? 'subscribe' : 'publish'} to ${subject}`;
  const fix =
    operation === 'subscription' && /^_INBOX\b/.test(subject ?? '')
      ? 'set THROUGHLINE_INBOX_PREFIX to what this user may subscribe to, such as _INBOX_reader'
      : '"throughline admin permissions" prints what each role needs';
  return new ThroughlineError('permission_denied', `${doing}: the NATS user is not allowed${what}; ${fix}`, {
    cause: error,
    ...(subject !== undefined && { details: { operation, subject } }),
  });
}

export function codeOfReport(report: string): ErrorCode {
  if (report === NatsCode.PermissionsViolation) return 'permission_denied';
  return AUTH_CODES.has(report) ? 'auth_failed' : 'unavailable';
}

const AUTH_CODES: ReadonlySet<string> = new Set([
  NatsCode.AuthorizationViolation,
  NatsCode.AuthenticationExpired,
  NatsCode.AuthenticationTimeout,
  NatsCode.AccountExpired,
  NatsCode.BadAuthentication,
  NatsCode.BadCreds,
]);

interface Joined {
  readonly as?: string | undefined;
  readonly access: { readonly user?: string | undefined; readonly creds?: string | undefined };
}

/** Maps the error of a failed connection attempt. `url` must not contain secrets; `joined` if `team join` has recorded it. */
export function connectFault(cause: unknown, url: string, joined?: Joined) {
  const code = codeOf(cause);
  const text = messageOf(cause);
  const again = `"throughline team join ${url}`;
  if (AUTH_CODES.has(code)) {
    const { user, creds } = joined?.access ?? {};
    const option = user === undefined ? creds && `--creds ${creds}` : `--user ${user}`;
    const isKey = joined?.as !== undefined && option === undefined;
    const who = isKey ? `the key of ${joined.as}` : 'the credentials';
    const invited = `ask for a new invitation ("throughline team rotate NAME", or "invite NAME", where the server runs), then ${again}"`;
    const fix =
      joined === undefined
        ? 'check NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_NKEY or NATS_CREDS'
        : option === undefined
          ? invited
          : `check them, then ${again} ${option}"`;
    const message = `the NATS server at ${url} rejected ${who} (${text}): ${fix}`;
    return new ThroughlineError('auth_failed', message, { cause });
  }
  if (TLS_CODE.test(code)) {
    const authority =
      joined === undefined
        ? 'check NATS_CA, NATS_CERT, NATS_KEY and THROUGHLINE_TLS_FIRST'
        : `${again} --ca FILE" names the authority of its certificate, which an invitation holds, too`;
    const fix = TLS_FIXES[code] ?? authority;
    const message = `no TLS with the NATS server at ${url} (${code}: ${text}): ${fix}`;
    return new ThroughlineError('tls_failed', message, { cause });
  }
  const fix = joined === undefined ? START_ONE : START_THERE;
  return new ThroughlineError('unavailable', `no NATS server answers at ${url} (${text}): ${fix}`, {
    cause,
    details: { fix },
  });
}

export const START_THERE =
  'start it there with "throughline up", or name its new address with "throughline team join URL"; what hooks keep meanwhile is sent later';
export const START_ONE = 'start one with "throughline up", or name another with --nats or NATS_URL';

const TLS_FIXES: Readonly<Record<string, string>> = {
  // The client's code for a server without TLS.
  SERVER_OPT_NA: 'it offers none: check the address',
  ERR_TLS_CERT_ALTNAME_INVALID: 'name the server as its certificate does, or give it one for this name',
};
/** Codes of Node's TLS and OpenSSL and the client's own. */
const TLS_CODE = /^(?:ERR_(?:TLS|SSL|OSSL)_|TLS$|SERVER_OPT_NA$)|CERT|SELF_SIGNED|LEAF_SIGNATURE|ISSUER|CRL/;

function codeOf(cause: unknown): string {
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
}

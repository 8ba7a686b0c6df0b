import { ErrorCode as NatsCode, NatsError } from 'nats';
import type { ErrorCode } from '../../contracts/error-codes.js';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';

/** The JetStream API codes that we act on. */
export const API = {
  wrongLastSequence: 10071,
  streamNotFound: 10059,
  /** All servers of the cluster that hold the stream are down. */
  streamOffline: 10118,
  /** The cluster has no leader, or the stream. */
  notAvailable: 10008,
  streamNameInUse: 10058,
  consumerNotFound: 10014,
  messageNotFound: 10037,
  jetStreamOff: 10039,
  otherStream: 10060,
  deleteFailed: 10057,
  /** Of a stream in memory. */
  sequenceNotFound: 10043,
  streamSealed: 10109,
  subjectsOverlap: 10065,
  replicasUnsupported: 10074,
} as const;

export const MAKE_ROOM =
  'raise max_file_store of the server, the limit of its account or max_bytes of the stream, or delete what you no longer need: nats stream ls';

/** A stream whose write has failed takes nothing until its server has started again, room or not. */
export const MAKE_ROOM_ON_DISK =
  'free space on the disk of the NATS server, and restart the server if it still cannot write ("throughline up" does so by itself)';

/** The codes for missing room, each with a fix. */
const NO_ROOM: ReadonlyMap<number | undefined, string> = new Map([
  // In the account, on the server, in memory, on its disk, and in a stream with a limit of its own.
  ...[10002, 10023, 10028, 10047, 10077].map((code) => [code, MAKE_ROOM] as const),
  [
    10026,
    'raise max_consumers of the account or the stream, or delete what you no longer need: nats consumer ls',
  ],
  [10027, 'raise max_streams of the account, or delete what you no longer need: nats stream ls'],
  // The server could not make the files of a consumer or a stream; its log says why.
  [10012, MAKE_ROOM_ON_DISK],
  [10049, MAKE_ROOM_ON_DISK],
]);

/** A refusal of JetStream. */
export function refusal(
  doing: string,
  { code, text }: { readonly code: number | undefined; readonly text: string },
  cause?: unknown,
): ThroughlineError {
  if (code === API.subjectsOverlap)
    return new ThroughlineError('config_invalid', `${doing}: ${text}; ${FREE_SUBJECTS}`, { cause });
  if (code === API.replicasUnsupported)
    return new ThroughlineError('config_invalid', `${doing}: ${text}; ${ONE_COPY}`, { cause });
  if (code === API.streamOffline)
    return new ThroughlineError(
      'unavailable',
      `${doing}: ${text}; start the servers of the cluster that hold it`,
      { cause },
    );
  const fix = NO_ROOM.get(code);
  return fix === undefined
    ? new ThroughlineError('internal', `${doing}: ${text}`, { cause })
    : new ThroughlineError('store_full', `${doing}: ${text}; ${fix}`, { cause });
}

/** How to keep two applications apart. */
export function takenByAnother(subjects: string, owners: string, ours: string): ThroughlineError {
  return new ThroughlineError(
    'config_invalid',
    `${subjects} belongs to stream ${ours}, but is taken by stream ${owners} of another application: ${KEEP_APART}`,
    { details: { subjects, owners, stream: ours } },
  );
}

export const KEEP_APART = 'give one of the two an account of its own, or the other stream other subjects';

const ONE_COPY =
  'a single server keeps one copy: restore with --replicas 1, and start services with THROUGHLINE_REPLICAS=1';

const FREE_SUBJECTS =
  'another stream takes these subjects: find it with nats stream ls --subject, give it others or delete it';

/** Number of a JetStream API error, or `undefined`. */
export function apiCode(error: unknown): number | undefined {
  return error instanceof NatsError ? error.api_error?.err_code : undefined;
}

/**
 * Whether nothing listens on the subject of a request: for a publish, that no stream takes it. An answer of JetStream may
 * have the same status.
 */
export function isNoResponders(error: unknown): boolean {
  return error instanceof NatsError && error.code === NatsCode.NoResponders && error.api_error === undefined;
}

/** The one table from NATS faults to ours. Our own errors pass unchanged. */
export function toThroughlineError(error: unknown, doing: string): ThroughlineError {
  if (error instanceof ThroughlineError) return error;
  if (error instanceof NatsError) {
    const text = error.api_error?.description ?? error.message;
    // First of all: the client gives some of these the code of a request without an answer.
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
        return new ThroughlineError('unavailable', `${doing}: NATS does not answer (${error.code})`, {
          cause: error,
        });
      case NatsCode.AuthorizationViolation:
        return new ThroughlineError('auth_failed', `${doing}: NATS refused it (${text})`, { cause: error });
      case NatsCode.PermissionsViolation:
        return permissionDenied(doing, error);
      case NatsCode.MaxPayloadExceeded:
        return new ThroughlineError('too_large', `${doing}: larger than the server accepts in one message`, {
          cause: error,
        });
      default:
        return refusal(doing, { code: apiCode(error), text }, error);
    }
  }
  return new ThroughlineError(
    'internal',
    `${doing}: ${error instanceof Error ? error.message : String(error)}`,
    {
      cause: error,
    },
  );
}

/** What a denied user needs: the server's own text names the subject. */
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

/** Our code for an error that the client reports beside any request. */
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

/** The error of a failed connection. `url` is shown: without secrets. */
export function connectFault(cause: unknown, url: string): ThroughlineError {
  const code = codeOf(cause);
  const text = messageOf(cause);
  if (AUTH_CODES.has(code)) {
    const fix = 'check NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_NKEY or NATS_CREDS';
    return new ThroughlineError(
      'auth_failed',
      `the NATS server at ${url} rejected the credentials (${text}): ${fix}`,
      {
        cause,
      },
    );
  }
  if (TLS_CODE.test(code)) {
    const fix = 'check NATS_CA, NATS_CERT, NATS_KEY and THROUGHLINE_TLS_FIRST';
    return new ThroughlineError(
      'tls_failed',
      `no TLS with the NATS server at ${url} (${code}: ${text}): ${fix}`,
      {
        cause,
      },
    );
  }
  return new ThroughlineError('unavailable', `no NATS server answers at ${url} (${text}): ${START_ONE}`, {
    cause,
  });
}

/** What to do where no server answers. */
export const START_ONE = 'start one with "throughline up", or set NATS_URL';

/** Codes of Node's TLS and of OpenSSL, and the client's own for a server that offers none. */
const TLS_CODE = /^(?:ERR_(?:TLS|SSL|OSSL)_|TLS$|SERVER_OPT_NA$)|CERT|SELF_SIGNED|LEAF_SIGNATURE|ISSUER|CRL/;

function codeOf(cause: unknown): string {
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
}

/** A URL, or several, as they may be shown: user, password and token replaced, with a scheme before them or without. */
export function withoutSecrets(url: string): string {
  // Up to the last @ of each: a password may hold one as well, and, wrongly, a slash, a comma or the end of a line.
  return url
    .split(/,(?=[a-z][a-z\d+.-]*:\/\/)/i)
    .map(shown)
    .join(',');
}

function shown(url: string): string {
  const [scheme = ''] = /^[a-z][a-z\d+.-]*:\/\//i.exec(url) ?? [];
  const at = url.lastIndexOf('@');
  return at < scheme.length ? url : `${scheme}***${url.slice(at)}`;
}

import { MAX_SHARDS } from '../contracts/names.js';
import {
  accessToken,
  flag,
  knobs,
  layoutAndShards,
  oneOf,
  optional,
  type VariableReader,
  wholeNumber,
} from './config-values.js';

/**
 * Every setting: its variable, reader, default and description. `Config` and docs/reference/configuration.md are
 * derived from this table.
 *
 * No setting here may change a fold or a prompt: that needs a constant, a setting of the session
 * (`contracts/session-meta-events.ts`), or a field of the request.
 */
interface Setting<Value, Variable extends string = string> extends VariableReader<Value> {
  readonly variable: Variable;
  readonly about: string;
}

function setting<Value, const Variable extends string>(
  variable: Variable,
  reader: VariableReader<Value>,
  about: string,
): Setting<Value, Variable> {
  return { variable, ...reader, about };
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

/** Numbers that rarely need another value, in one variable. */
export const TUNING = {
  maxBodyBytes: {
    ...wholeNumber(1024, 8 * 1024 * 1024, 256 * 1024),
    about: 'largest body of a result, in bytes. Its event must still fit one message of the server',
  },
  ackWaitMs: {
    ...wholeNumber(500, 3_600_000, 10_000),
    about:
      'milliseconds after which an unacknowledged result is delivered again: a short time finds a dead worker soon',
  },
  snapshotEvery: {
    ...wholeNumber(1, 100_000, 100),
    about:
      'folded events after which a snapshot is written: a low number makes loads fast, and writes frequent',
  },
  cacheMb: {
    ...wholeNumber(1, 100_000, 24),
    about:
      'approximate megabytes for folded sessions in a service, and as many for folded projects. A session of 5 results needs 0.07, one of 70 needs 0.7. The process grows by two to three times as much',
  },
  afterTimeoutMs: {
    ...wholeNumber(0, 600_000, 4500),
    about:
      'longest wait for the result named in `after`, in milliseconds: most clients give up after five seconds',
  },
  requestTimeoutMs: {
    ...wholeNumber(100, 600_000, 5000),
    about: 'longest wait for one answer of the server, in milliseconds',
  },
  shutdownMs: {
    ...wholeNumber(100, 600_000, 10_000),
    about: 'milliseconds that a graceful shutdown may take before it is forced',
  },
} as const;

export const SETTINGS = {
  natsUrl: setting(
    'NATS_URL',
    optional(),
    'URL of the NATS server, or several separated by commas. If unset, the server of `throughline team join` is used, or else your own, which `throughline up` starts',
  ),
  user: setting('NATS_USER', optional(), 'user name: set it together with `NATS_PASSWORD`'),
  password: setting('NATS_PASSWORD', optional(), 'the password of `NATS_USER`'),
  token: setting('NATS_TOKEN', optional(), 'authentication token'),
  nkey: setting('NATS_NKEY', optional(), 'file with the seed of an NKey'),
  creds: setting(
    'NATS_CREDS',
    optional(),
    'creds file, with a JWT and its seed. Use one of these four ways, or `nats://user:password@host`',
  ),
  ca: setting(
    'NATS_CA',
    optional(),
    "PEM file of the authorities that may sign the server's certificate; the connection must then use TLS",
  ),
  cert: setting(
    'NATS_CERT',
    optional(),
    'PEM file of the client certificate, for a server that asks for one',
  ),
  key: setting('NATS_KEY', optional(), 'PEM file of the key of `NATS_CERT`'),
  serverBin: setting('NATS_SERVER_BIN', optional(), 'the nats-server binary to start'),
  tlsFirst: setting(
    'THROUGHLINE_TLS_FIRST',
    flag,
    '1 if the server expects TLS before its greeting (`handshake_first`)',
  ),
  inboxPrefix: setting(
    'THROUGHLINE_INBOX_PREFIX',
    optional('`_INBOX`'),
    'prefix of reply subjects: give each user its own, so that no user hears the replies of another',
  ),
  autostart: setting(
    'THROUGHLINE_AUTOSTART',
    oneOf(['1', '0'], '1'),
    '0 keeps hooks, the MCP server and commands from starting your server in the background when it does not run. They never do when `NATS_URL` or `--nats` names a server',
  ),
  session: setting('THROUGHLINE_SESSION', optional(), 'session for commands that name none'),
  project: setting(
    'THROUGHLINE_PROJECT',
    optional('`default`'),
    'project for `learning` commands that name none; it overrides `.throughline.json`',
  ),
  logLevel: setting(
    'THROUGHLINE_LOG_LEVEL',
    oneOf(LOG_LEVELS, 'info'),
    `${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}: what services log on standard error: plain lines at a terminal, else JSON lines with level, service and time; \`debug\` has one for each recorded result`,
  ),
  replicas: setting(
    'THROUGHLINE_REPLICAS',
    wholeNumber(1, 5, 1),
    'copies of each new stream and bucket: 3 in a cluster. More copies survive more failures, and cost speed',
  ),
  layout: setting(
    'THROUGHLINE_LAYOUT',
    layoutAndShards,
    `streams of session logs: \`per-session\`, \`sharded\` (64 shared streams, for thousands of sessions), or \`sharded:N\`, a power of two up to ${MAX_SHARDS}. It is recorded when an installation is new; a service with another setting does not start`,
  ),
  redact: setting(
    'THROUGHLINE_REDACT',
    oneOf(['on', 'off'], 'on'),
    '`on` replaces secrets that agents write by `<redacted:rule>`, `off` keeps them; logs never hold them',
  ),
  tasksRoots: setting(
    'THROUGHLINE_TASKS_ROOTS',
    optional('working directory, and the projects that you have connected'),
    'folders that services may read task files from, separated as in `PATH`',
  ),
  inspectorToken: setting(
    'THROUGHLINE_INSPECTOR_TOKEN',
    accessToken,
    'token that opens the inspector, 16 to 128 characters of A-Z a-z 0-9 _ and -. If unset, up keeps one in its store',
  ),
  tuning: setting(
    'THROUGHLINE_TUNING',
    knobs(TUNING),
    'numbers of the table below, such as `cacheMb=64 snapshotEvery=50`: for measurements, and for machines that are unlike most',
  ),
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

type Settings = typeof SETTINGS;
/** A variable of the configuration. */
export type VariableName = Settings[keyof Settings]['variable'];
export type SettingValues = { readonly [Name in keyof Settings]: ReturnType<Settings[Name]['read']> };

/** Limits without a setting. Tests shorten some. */
export const FIXED = {
  /** Dispatches in flight per extractor: more are faster, but more are repeated after a crash. */
  maxInHand: 500,
  /** Requests of one session or project in progress at a time in a service; more are refused with `rate_limited`. */
  requestsInProgress: 1000,
  /** Failed attempts before a dispatch is rejected; delays do not count. */
  maxDeliveries: 20,
  /** Number of tasks in which reviewers must demand the same before it is proposed as a learning. */
  recurrence: 2,
  /** Limit of cached states; their bytes usually bind first. */
  maxCached: 5000,
  /** The keeper folds a session after this many milliseconds without an event, or of continuous activity. */
  quietMs: 5000,
  busyMs: 15_000,
  /** It writes the snapshot after this many milliseconds without an event. */
  restMs: 60_000,
} as const;

export type Fixed = { readonly [Name in keyof typeof FIXED]: number };

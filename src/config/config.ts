import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { ThroughlineError } from '../contracts/errors.js';
import { userStateDir } from '../engine/files/user-state.js';
import type { NatsAccess } from '../nats/connection/nats-access.js';
import { cacheDirOf } from '../nats/server/server-version.js';
import { WrongVariable } from './config-values.js';
import { connectedProjects } from './connected-projects.js';
import { FIXED, type Fixed, SETTINGS, type SettingValues, type VariableName } from './settings.js';
import { type ServerInUse, serverInUse } from './user-server.js';

/**
 * The only reader of the environment: variables become one frozen value with all defaults. A wrong value is refused
 * with the name of its variable; it is never replaced by a default.
 */
export interface Config
  extends Omit<SettingValues, keyof NatsAccess | Reread | 'layout' | 'tuning'>,
    Fixed,
    LayoutAndTuning {
  readonly access: NatsAccess;
  readonly redact: boolean;
  readonly tasksRoots: readonly string[];
  readonly cacheDir: string;
  /** The raw variables, for finding nats-server. */
  readonly env: Variables;
}

type Variables = Readonly<Record<string, string | undefined>>;
type LayoutAndTuning = SettingValues['layout'] & SettingValues['tuning'];
type Reread = 'redact' | 'tasksRoots' | 'serverBin';

/**
 * @param fixed limits that are not settings, for tests
 * @throws ThroughlineError `config_invalid` that names each wrong variable
 */
export function loadConfig(env: Variables = process.env, fixed: Partial<Fixed> = {}): Config {
  const values = valuesOf(env);
  const { user, password, token, nkey, creds, ca, cert, key, tlsFirst, inboxPrefix, ...more } = values;
  const { tasksRoots, redact, serverBin, layout, tuning, ...rest } = more;
  const limits: Fixed = { ...FIXED, ...fixed };
  return Object.freeze({
    ...limits,
    ...rest,
    ...layout,
    ...tuning,
    access: { user, password, token, nkey, creds, ca, cert, key, tlsFirst, inboxPrefix },
    redact: redact === 'on',
    tasksRoots: tasksRoots?.split(delimiter).filter((root) => root !== '') ?? [process.cwd()],
    cacheDir: cacheDirOf(env, homedir()),
    env,
  });
}

/**
 * Makes the configuration of services embedded in a program from these settings alone; the environment only provides
 * paths of programs and folders.
 *
 * @throws ThroughlineError `config_invalid` that names each wrong setting
 */
export function embeddedConfig(
  settings: Readonly<Partial<Record<VariableName, string>>>,
  env: Variables = process.env,
): Config {
  const unknown = Object.keys(settings).filter((name) => !VARIABLES.has(name));
  if (unknown.length > 0) {
    throw new ThroughlineError('config_invalid', `settings: ${unknown.join(', ')} is not a setting`);
  }
  const around = Object.entries(env).filter(([name]) => !VARIABLES.has(name));
  return loadConfig({ ...Object.fromEntries(around), ...settings });
}

function valuesOf(env: Variables): SettingValues {
  const wrong: string[] = [];
  const values = Object.entries(SETTINGS).map(([name, { variable, read }]) => {
    try {
      return [name, read(env[variable] === '' ? undefined : env[variable])];
    } catch (error) {
      if (!(error instanceof WrongVariable)) throw error;
      wrong.push(`${variable} ${error.message}`);
      return [name, undefined];
    }
  });
  if (wrong.length > 0) throw new ThroughlineError('config_invalid', wrong.join('; '));
  return Object.fromEntries(values) as SettingValues;
}

export const VARIABLES: ReadonlySet<string> = new Set(
  Object.values(SETTINGS).map(({ variable }) => variable),
);
/** Set by `throughline work` for an agent's hooks, and on every process of a call. */
const OF_WORK: ReadonlySet<string> = new Set(['THROUGHLINE_RESULT_ID', 'THROUGHLINE_CALL']);
/** Other names with our prefix: variables of tests, and those that Kubernetes sets for each service. */
const OF_OTHERS = /^THROUGHLINE_(TEST_|(.+_)?(SERVICE_(HOST|PORT)|PORT)(_|$))/;

/** Returns unused variables with our prefix, most likely misspelled. They are reported, not refused. */
export function unknownVariables(env: Variables): string[] {
  return Object.keys(env).filter(
    (name) =>
      name.startsWith('THROUGHLINE_') && !VARIABLES.has(name) && !OF_WORK.has(name) && !OF_OTHERS.test(name),
  );
}

/** Returns the directory of everything stored for this user. Needs no valid settings. */
export function stateDirOf(env: Variables = process.env): string {
  return userStateDir(env, homedir());
}

/** Returns the variables as they are, for a program that goes on with a wrong one. */
export function givenVariables(): Variables {
  return process.env;
}

export function discoveredServer(env: Variables = process.env): ServerInUse {
  return serverInUse(stateDirOf(env), { natsUrl: env.NATS_URL || undefined, directory: process.cwd() });
}

/** Returns the token of `NATS_URL`: `throughline up --auth` prints a line that sets both. */
export function tokenOfNamed({ NATS_URL, NATS_TOKEN }: Variables = process.env): string | undefined {
  return (NATS_URL && NATS_TOKEN) || undefined;
}

/** Variables that any program may need and that hold no secret. */
export const USUAL_VARIABLES = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'LC_CTYPE'],
  ...['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'NO_COLOR', 'CI'],
];

/** Returns the connected folders: their plans may be read unless `THROUGHLINE_TASKS_ROOTS` is set. */
export function connectedRoots({ env }: Config): string[] {
  return env.THROUGHLINE_TASKS_ROOTS ? [] : connectedProjects(stateDirOf(env)).map(({ folder }) => folder);
}

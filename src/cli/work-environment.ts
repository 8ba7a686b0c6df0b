import { ThroughlineError } from '../contracts/errors.js';

/** What every program may need, and no secret is in. */
const USUAL = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'LC_CTYPE'],
  ...['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'NO_COLOR', 'CI'],
  // A run within a call of another one: that one ends its processes as well.
  'THROUGHLINE_CALL',
];

/**
 * What agents and checks see of the environment: the usual variables, those that are named, and where NATS is, unless its
 * address holds a password.
 *
 * @throws ThroughlineError `usage` for a name that is not set
 */
export function workEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
  url: string,
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of USUAL) {
    const value = env[name];
    if (value !== undefined) given[name] = value;
  }
  if (!url.includes('@')) given.NATS_URL = url;
  for (const name of names) {
    if (name.includes('='))
      throw new ThroughlineError(
        'usage',
        `--env takes names alone, so that no value stands in a command line: set ${name.slice(0, name.indexOf('='))} in the environment, and give its name`,
      );
    const value = env[name];
    if (value === undefined)
      throw new ThroughlineError('usage', `--env ${name}: the variable is not set; set it, or leave it out`);
    given[name] = value;
  }
  return given;
}

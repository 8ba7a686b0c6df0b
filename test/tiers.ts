import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Tier } from './support/tier.js';

/**
 * Which tests run when. `default` is what `./scripts/test` runs before every commit, in minutes: lint, types, all unit tests
 * with a fifth of the runs of each property, and those tests of the system that are listed here. `all` runs every test there
 * is, as often as it says: `./scripts/test --all`, or a file that is named.
 */
/** Folders of tests that need a server, the built package, or a process of their own. The other folders hold unit tests. */
const SYSTEM_FOLDERS = ['cli', 'docker', 'e2e', 'faults', 'inspector', 'engine/ports', 'nats', 'sdk'];
/** Tests of the system in other folders. */
const SYSTEM_ELSEWHERE = [
  ...within('config', 'user-server'),
  ...within('docs', 'site'),
  ...within('entries', 'server'),
  ...within('services/learnings', 'learning-decisions'),
];
/** Unit tests in those folders: values in, values out, with no server and no process. */
const UNIT_AMONG_SYSTEM = [
  ...within(
    'cli',
    'command-logger given-options own-server program progress-line read-session-file session-lines',
  ),
  ...within('cli', 'show-learning show-reply whole-program'),
  ...within('docker', 'compose'),
  ...within('nats/server', 'binary-cache server-version'),
  ...within('nats/jetstream', 'list-streams'),
  ...within('nats/stores', 'nats-sharded-session-log'),
];

/** The tests of the system in the default tier, by what they protect: they find the most regressions in a second. */
export const DEFAULT_SYSTEM: readonly { readonly protects: string; readonly tests: readonly string[] }[] = [
  {
    protects: 'the way of a result: published, read, rejected, stored once, asked for, and put into a prompt',
    tests: [
      ...within('e2e', 'conformance once rejected-results message-ids'),
      ...within('e2e', 'compile limits queries'),
    ],
  },
  {
    protects: 'sessions: their tools, plans, traces and learnings',
    tests: [
      ...within('e2e', 'session-tools plan ledger-compile'),
      ...within('e2e', 'learnings'),
      ...within('services/learnings', 'learning-decisions'),
    ],
  },
  {
    protects: 'ports: one suite for each, in memory and on real NATS',
    tests: [
      ...within(
        'engine/ports',
        'dispatch-source learning-log lease-store prompt-ring rejected-store session-index',
      ),
      ...within('engine/ports', 'session-lifecycle session-log snapshot-store'),
    ],
  },
  {
    protects: 'what agents and people use: commands, hooks, the MCP server, and the inspector in a browser',
    tests: [
      ...within('e2e', 'cli compile-cli mcp'),
      ...within('inspector', 'served-page'),
      ...within('cli', 'usage-fault output'),
      ...within('config', 'user-server'),
      ...within('sdk', 'publish-until-stored'),
      ...within('entries', 'server'),
      ...within('nats/server', 'find-server'),
    ],
  },
  {
    protects: 'security: users of the roles, secrets, and hostile input',
    tests: [...within('e2e', 'permissions secrets'), ...within('nats/connection', 'nats-access')],
  },
  {
    protects: 'data: a crash, a backup, and a session that is forgotten',
    tests: [...within('e2e', 'crash forget'), ...within('faults', 'crash-points simulation')],
  },
  {
    protects: 'the connection to NATS: what it publishes and reads, and what it does when it breaks',
    tests: [
      ...within('nats/jetstream', 'acked-publisher direct-get dispatch-consumption'),
      ...within('nats/connection', 'connect-nats nats-errors'),
      ...within('nats/micro', 'micro-service'),
    ],
  },
];

/** Unit tests that take half a minute for what seldom changes. */
const UNIT_IN_ALL = new Set(within('architecture', 'expressions'));

const unit = new Set(UNIT_AMONG_SYSTEM);
const system = new Set(SYSTEM_ELSEWHERE);
const defaults = new Set(DEFAULT_SYSTEM.flatMap(({ tests }) => tests));

/** Every file of tests, as a path from the root of the repository. */
export const TESTS: readonly string[] = readdirSync(fileURLToPath(new URL('.', import.meta.url)), {
  recursive: true,
  encoding: 'utf8',
})
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .sort();

/** Tests that measure milliseconds: they run one after another when all others have ended. */
const TIMED: ReadonlySet<string> = new Set(within('e2e', 'event-loop'));

export function isTimed(path: string): boolean {
  return TIMED.has(path);
}

/** Returns true for a test that needs a server, the built package, or a process of its own. */
export function isSystem(path: string): boolean {
  if (system.has(path)) return true;
  return SYSTEM_FOLDERS.some((folder) => path.startsWith(`test/${folder}/`)) && !unit.has(path);
}

export function tierOf(path: string): Tier {
  const isDefault = isSystem(path) ? defaults.has(path) : !UNIT_IN_ALL.has(path);
  return isDefault ? 'default' : 'all';
}

/** Paths that the lists above name, so that a test can tell which of them is not there. */
export const NAMED: readonly string[] = [...system, ...unit, ...defaults, ...UNIT_IN_ALL, ...TIMED];

function within(folder: string, names: string): string[] {
  return names.split(' ').map((name) => `test/${folder}/${name}.test.ts`);
}

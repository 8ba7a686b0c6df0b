import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../src/contracts/errors.js';
import {
  executableName,
  executablesOnPath,
  goInstallEnvironment,
  installIntoCache,
  runCommand,
} from '../../src/nats/server/install-server.js';
import { cacheDirOf } from '../../src/nats/server/server-version.js';

/** The version that `scripts/natscli/go.mod` pins; a test compares the two. */
export const NATS_CLI_VERSION = '0.4.0';

/** The folder of the Go module that pins the command line. */
export const NATS_CLI_MODULE = fileURLToPath(new URL('../../scripts/natscli/', import.meta.url));

const PACKAGE = 'github.com/nats-io/natscli/nats';
const BUILD_TIMEOUT_MS = 10 * 60_000;

/** Where the real `nats` command line is, or why there is none. */
export type NatsCli = { readonly path: string } | { readonly missing: string };

let cli: Promise<NatsCli> | undefined;

/**
 * Finds the real `nats` command line: the pinned one in the cache, else built there with Go (a minute or two,
 * once), else whatever `nats` is on PATH. Looked for once per process; safe in many processes at once.
 */
export function natsCli(): Promise<NatsCli> {
  cli ??= findNatsCli();
  return cli;
}

async function findNatsCli(): Promise<NatsCli> {
  const name = executableName('nats', process.platform);
  const cached = join(cacheDirOf(process.env, homedir()), `natscli-${NATS_CLI_VERSION}`, name);
  if (await exists(cached)) return { path: cached };

  const failure = await buildInto(cached, name);
  if (failure === undefined) return { path: cached };
  const [onPath] = await executablesOnPath(name, process.env);
  if (onPath !== undefined) return { path: onPath };
  return {
    missing: `no nats command line: it cannot be built (${failure}), and there is none on PATH. Install Go, or nats`,
  };
}

/** Builds the pinned command line; answers with the reason when that fails. */
async function buildInto(target: string, name: string): Promise<string | undefined> {
  const [go] = await executablesOnPath(executableName('go', process.platform), process.env);
  if (go === undefined) return 'no go on PATH';
  console.warn(`building nats ${NATS_CLI_VERSION} with go, a minute or two`);
  try {
    await installIntoCache(target, async (folder) => {
      const env = goInstallEnvironment(process.env, folder);
      const options = { env, cwd: NATS_CLI_MODULE, timeoutMs: BUILD_TIMEOUT_MS };
      const result = await runCommand(go, ['install', PACKAGE], options);
      if (!result.ok) throw new Error(result.reason);
      return join(folder, name);
    });
    return undefined;
  } catch (fault) {
    return messageOf(fault);
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

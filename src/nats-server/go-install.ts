import { join } from 'node:path';
import { installPinned } from './pinned-binary.js';
import { executableName, executablesOnPath } from './probe-binary.js';
import { runCommand } from './run-command.js';
import { NATS_SERVER_PIN } from './server-pin.js';
import type { Environment, Place } from './server-search.js';

const BUILD_TIMEOUT_MS = 10 * 60_000;

/** Builds the pinned server with Go, where Go is there. Go checks the sources against its checksum database. */
export const goInstall: Place = {
  name: 'go install',
  async look(options) {
    const [go] = await executablesOnPath(executableName('go', options.platform), options.env);
    if (go === undefined) return { reason: 'no go on PATH' };
    options.progress?.(`building nats-server ${NATS_SERVER_PIN.version} with go, about half a minute`);
    return installPinned(options, 'go install', async (folder) => {
      const target = `${NATS_SERVER_PIN.goModule}@v${NATS_SERVER_PIN.version}`;
      const env = goInstallEnvironment(options.env, folder);
      const result = await runCommand(go, ['install', target], {
        env,
        cwd: folder,
        timeoutMs: BUILD_TIMEOUT_MS,
      });
      if (!result.ok) throw new Error(result.reason);
      return join(folder, executableName('nats-server', options.platform));
    });
  },
};

/** The environment in which `go install` puts a program for this machine into `folder`. */
export function goInstallEnvironment(env: Environment, folder: string): Environment {
  // A GOOS or GOARCH left over from cross-compiling would build for another machine, and go refuses it with
  // GOBIN.
  return { ...env, CGO_ENABLED: '0', GOBIN: folder, GOOS: undefined, GOARCH: undefined };
}

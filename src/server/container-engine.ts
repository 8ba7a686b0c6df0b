import { executableName, executablesOnPath } from './binary.js';
import { runCommand } from './command.js';
import { NATS_SERVER_PIN } from './pin.js';
import type { ContainerEngine, FindOptions, Place } from './search.js';

const ENGINES: readonly ContainerEngine[] = ['docker', 'podman'];
const PULL_TIMEOUT_MS = 3 * 60_000;

/** A container engine that answers and has, or can pull, the pinned image. */
export const containerEngine: Place = {
  name: 'container engine',
  async look(options) {
    const reasons: string[] = [];
    for (const engine of ENGINES) {
      const image = imageFor(engine);
      const reason = await whyNot(engine, image, options);
      if (reason === undefined)
        return { found: { kind: 'container', image, engine, foundBy: 'container engine' } };
      reasons.push(`${engine}: ${reason}`);
    }
    return { reason: reasons.join('; ') };
  },
};

function imageFor(engine: ContainerEngine): string {
  // Podman asks a person which registry a short name means; where nobody is there to ask, it fails.
  return engine === 'podman' ? `docker.io/library/${NATS_SERVER_PIN.image}` : NATS_SERVER_PIN.image;
}

async function whyNot(
  engine: ContainerEngine,
  image: string,
  options: FindOptions,
): Promise<string | undefined> {
  const { env, platform, progress } = options;
  if ((await executablesOnPath(executableName(engine, platform), env)).length === 0) return 'not on PATH';
  if (engine === 'docker' && isRemote(env.DOCKER_HOST))
    return `DOCKER_HOST=${env.DOCKER_HOST} is another machine`;

  const info = await runCommand(engine, ['info'], { env, timeoutMs: 10_000 });
  if (!info.ok) return `does not answer: ${info.reason}`;
  if ((await runCommand(engine, ['image', 'inspect', image], { env, timeoutMs: 10_000 })).ok)
    return undefined;
  progress?.(`pulling ${image} with ${engine}`);
  const pull = await runCommand(engine, ['pull', image], { env, timeoutMs: PULL_TIMEOUT_MS });
  return pull.ok ? undefined : `cannot pull ${image}: ${pull.reason}`;
}

/** An engine elsewhere can neither mount the store directory nor publish on this machine's loopback. */
function isRemote(dockerHost: string | undefined): boolean {
  if (!dockerHost || !URL.canParse(dockerHost)) return false;
  const { protocol, hostname } = new URL(dockerHost);
  if (protocol === 'ssh:') return true;
  return protocol === 'tcp:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

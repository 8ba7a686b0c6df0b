import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GenericContainer, getContainerRuntimeClient, ImageName, Wait } from 'testcontainers';
import { messageOf } from '../../src/contracts/errors.js';
import { NATS_SERVER_PIN } from '../../src/nats/server/server-version.js';
import { freePort } from './free-port.js';
import { type BackedNats, configOf, plainConnection, type TestNatsOptions } from './nats-server.js';
import { started as countStarted } from './started.js';

const LOOPBACK = '127.0.0.1';
const STORE = '/data';
const CLIENT_PORT = 4222;
const MONITOR_PORT = 8222;
const READY_WITHIN_MS = 15_000;
const POLL_MS = 20;

let reason: Promise<string | undefined> | undefined;

/** Why no server can run in a container here; undefined when one can. Asked once per process. */
export function whyNoContainer(): Promise<string | undefined> {
  reason ??= lookForEngineAndImage();
  return reason;
}

async function lookForEngineAndImage(): Promise<string | undefined> {
  try {
    const { image, info } = await getContainerRuntimeClient();
    const { host } = info.containerRuntime;
    if (!['localhost', LOOPBACK].includes(host))
      return `the container engine runs on another machine (${host})`;
    const pinned = ImageName.fromString(NATS_SERVER_PIN.image);
    if (!(await image.exists(pinned))) await image.pull(pinned);
    return undefined;
  } catch (fault) {
    return `no container engine can run ${NATS_SERVER_PIN.image} (${messageOf(fault)})`;
  }
}

/** testcontainers publishes on every interface; a test server has no password, and is for this machine only. */
class LoopbackContainer extends GenericContainer {
  protected override async beforeContainerCreated(): Promise<void> {
    const bindings: Record<string, { HostPort: string }[]> = this.hostConfig.PortBindings ?? {};
    for (const binding of Object.values(bindings).flat()) Object.assign(binding, { HostIp: LOOPBACK });
  }
}

/** A server in a container of its own, with its store mounted from this machine. */
export async function startContainerNats(storeDir: string, options: TestNatsOptions): Promise<BackedNats> {
  // Ryuk, testcontainers' cleaner, is a second image to pull, with the engine's socket in its hands. Each
  // server here is stopped by its id, so there is nothing for it to clean.
  process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
  countStarted('server');
  const port = await freePort(LOOPBACK);
  const monitorPort = options.monitor === true ? await freePort(LOOPBACK) : undefined;
  const monitorBindings = monitorPort === undefined ? [] : [{ container: MONITOR_PORT, host: monitorPort }];
  await writeConfig(storeDir, options);

  const started = await new LoopbackContainer(NATS_SERVER_PIN.image)
    .withCommand(['-c', `${STORE}/nats-server.conf`])
    .withBindMounts([{ source: storeDir, target: STORE }])
    .withUser(`${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`)
    // Fixed host ports, since a restarted container would otherwise come back on another one.
    .withExposedPorts({ container: CLIENT_PORT, host: port }, ...monitorBindings)
    .withWaitStrategy(Wait.forLogMessage('Server is ready'))
    .start();
  await requireReady(port, options).catch(async (fault: unknown) => {
    await started.stop();
    throw fault;
  });

  const { container: engine } = await getContainerRuntimeClient();
  const container = engine.getById(started.getId());
  const kill = async () => {
    if (!(await container.inspect()).State.Running) return;
    await container.kill();
    await container.wait();
  };
  return {
    url: `nats://${LOOPBACK}:${port}`,
    monitorUrl: monitorPort === undefined ? undefined : `http://${LOOPBACK}:${monitorPort}`,
    kill,
    async restart() {
      await engine.stop(container, { timeout: 5_000 });
      await container.start();
      await requireReady(port, options);
    },
    async stop() {
      await started.stop();
    },
    endCommand: `docker rm --force ${started.getId()}`,
  };
}

async function writeConfig(storeDir: string, options: TestNatsOptions): Promise<void> {
  const lines = [
    `port: ${CLIENT_PORT}`,
    ...(options.monitor === true ? [`http_port: ${MONITOR_PORT}`] : []),
    `jetstream { store_dir: ${STORE} }`,
    configOf(options),
  ];
  await writeFile(join(storeDir, 'nats-server.conf'), `${lines.join('\n')}\n`);
}

async function requireReady(port: number, { extraConfig = '' }: TestNatsOptions): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      await (await plainConnection(`nats://${LOOPBACK}:${port}`)).close();
      return;
    } catch (fault) {
      // A server with users refuses a client without one.
      if (extraConfig !== '' && codeOf(fault) === 'AUTHORIZATION_VIOLATION') return;
      if (performance.now() > deadline)
        throw new Error(`the server in the container did not answer on port ${port}`, { cause: fault });
    }
    await sleep(POLL_MS);
  }
}

function codeOf(fault: unknown): unknown {
  return typeof fault === 'object' && fault !== null && 'code' in fault ? fault.code : undefined;
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { NatsServerSource } from './search.js';

/** The name of the configuration file in the store directory. */
export const CONFIG_FILE = 'nats-server.conf';

const CONTAINER_STORE = '/data';
const CONTAINER_PORT = 4222;
const CONTAINER_MONITOR_PORT = 8222;

/** Where a server listens, and where its store is, as the rest of this machine sees them. */
export interface Location {
  readonly host: string;
  readonly port: number;
  readonly monitorPort: number | undefined;
  readonly storeDir: string;
}

/** How one kind of source is run. */
export interface Launcher {
  /** The same location as the server itself sees it, for its configuration file. */
  readonly inside: Location;
  /** Starts the process; its output goes to the file descriptor. */
  spawn(logFd: number): ChildProcess;
  /** Ends the server at once, without its consent. Synchronous: it also runs while this process exits. */
  kill(child: ChildProcess): void;
}

/** A launcher for a source. `id` is unique on this machine. */
export function launcherFor(source: NatsServerSource, location: Location, id: string): Launcher {
  return source.kind === 'binary'
    ? binaryLauncher(source.path, location)
    : containerLauncher(source, location, id);
}

function binaryLauncher(path: string, location: Location): Launcher {
  return {
    inside: location,
    spawn: (logFd) => start(path, ['-c', join(location.storeDir, CONFIG_FILE)], logFd),
    kill: (child) => child.kill('SIGKILL'),
  };
}

function containerLauncher(
  source: Extract<NatsServerSource, { kind: 'container' }>,
  location: Location,
  id: string,
): Launcher {
  const { engine, image } = source;
  const publish = (outside: number, inside: number) => ['-p', `${location.host}:${outside}:${inside}`];
  const args = [
    ...['run', '--rm', '--name', id],
    ...publish(location.port, CONTAINER_PORT),
    ...(location.monitorPort === undefined ? [] : publish(location.monitorPort, CONTAINER_MONITOR_PORT)),
    ...['-v', `${location.storeDir}:${CONTAINER_STORE}${engine === 'podman' ? ':Z' : ''}`],
    ...userArguments(engine),
    ...[image, '-c', `${CONTAINER_STORE}/${CONFIG_FILE}`],
  ];
  return {
    inside: {
      host: '0.0.0.0',
      port: CONTAINER_PORT,
      monitorPort: location.monitorPort === undefined ? undefined : CONTAINER_MONITOR_PORT,
      storeDir: CONTAINER_STORE,
    },
    // The engine's command passes SIGTERM on to the server, and ends with it.
    spawn: (logFd) => start(engine, args, logFd),
    kill(child) {
      // SIGKILL of the engine's command would leave the container running: it is removed by its name.
      spawnSync(engine, ['rm', '-f', id], { stdio: 'ignore' });
      child.kill('SIGKILL');
    },
  };
}

/**
 * The store's files shall be ours. Rootless engines map their root to us already; asking for our id would
 * undo that.
 */
function userArguments(engine: 'docker' | 'podman'): readonly string[] {
  if (engine === 'podman' || process.getuid === undefined || process.getgid === undefined) return [];
  const info = spawnSync(engine, ['info', '--format', '{{.SecurityOptions}}']);
  // Null where the engine's command cannot be run at all; starting the server will say so.
  const options = info.stdout?.toString() ?? '';
  return options.includes('name=rootless') ? [] : ['--user', `${process.getuid()}:${process.getgid()}`];
}

function start(file: string, args: readonly string[], logFd: number): ChildProcess {
  // In a session of its own: Ctrl-C in a terminal reaches the whole foreground group, and the server must
  // outlive the workers that drain into it.
  return spawn(file, args, { stdio: ['ignore', logFd, logFd], detached: true, windowsHide: true });
}

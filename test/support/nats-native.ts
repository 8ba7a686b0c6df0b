import { homedir } from 'node:os';
import { findNatsServer } from '../../src/nats/server/find-server.js';
import type { NatsServerSource } from '../../src/nats/server/install-server.js';
import { type RunningServer, startNatsServer } from '../../src/nats/server/server-process.js';
import { cacheDirOf } from '../../src/nats/server/server-version.js';
import { freePort } from './free-port.js';
import { type BackedNats, configOf, type TestNatsOptions } from './nats-server.js';

let source: Promise<NatsServerSource> | undefined;

export function nativeSource(): Promise<NatsServerSource> {
  source ??= findNatsServer({
    env: process.env,
    cacheDir: cacheDirOf(process.env, homedir()),
    platform: process.platform,
    arch: process.arch,
    progress: (line) => console.warn(line),
  });
  return source;
}

export async function startNativeNats(storeDir: string, options: TestNatsOptions): Promise<BackedNats> {
  const found = await nativeSource();
  const monitorUrl = options.monitor === true ? `127.0.0.1:${await freePort('127.0.0.1')}` : undefined;
  const extraConfig = [configOf(options), ...(monitorUrl ? [`http: "${monitorUrl}"`] : [])].join('\n');
  const start = (port: number): Promise<RunningServer> =>
    startNatsServer({ source: found, storeDir, port, extraConfig });

  let server = await start(0);
  const { url, port } = server;
  return {
    url,
    monitorUrl: monitorUrl && `http://${monitorUrl}`,
    kill: () => server.kill(),
    async restart() {
      await server.stop();
      server = await start(port);
    },
    stop: () => server.stop(),
    endCommand: `kill -9 ${server.pid}`,
  };
}

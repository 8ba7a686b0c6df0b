import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { Shutdown } from '../../src/engine/runtime/shutdown.js';
import { connectThroughline } from '../../src/index.js';
import { startNatsServer } from '../../src/nats/server/server-process.js';
import { serve } from '../../src/services/serve.js';
import { capturedLog } from '../support/captured-log.js';
import { credentialsFolder } from '../support/credentials.js';
import { nativeSource } from '../support/nats-native.js';
import { soon } from '../support/system.js';

/** Changes users while the services are connected, and changes them back. */

const users = (worker: string) => `authorization { users = [
  { user: worker, password: secret${worker} }
  { user: runtime, password: secret }
] }`;
const MAY_ALL = users('');
const MAY_NOT_LISTEN = users(', permissions { subscribe: { deny: [">"] } }');

it('services that may not listen for a while do all their work again afterwards', async () => {
  await using folder = await credentialsFolder();
  const storeDir = join(folder.path, 'store');
  const options = { source: await nativeSource(), storeDir, extraConfig: MAY_ALL };
  const server = await startNatsServer(options);
  const reload = async (from: string, to: string) => {
    const file = join(storeDir, 'nats-server.conf');
    await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
    process.kill(server.pid, 'SIGHUP');
  };
  const shutdown = new Shutdown();
  const config = loadConfig({
    NATS_USER: 'worker',
    NATS_PASSWORD: 'secret',
    THROUGHLINE_TUNING: 'requestTimeoutMs=1000',
  });
  const { logger, lines } = capturedLog();
  try {
    await serve(server.url, { config, logger, shutdown });
    await using client = await connectThroughline({
      url: server.url,
      user: 'runtime',
      password: 'secret',
      timeoutMs: 2000,
    });
    const works = async () => {
      const result = '{"task_id":"1","status":"completed","summary":"done","files_modified":["a.ts"]}';
      const { sequence: after } = await client.publishText('demo', 'implementer', result);
      const { factsTotal } = await client.compile({ session: 'demo', taskId: '2', taskPrompt: 'x', after });
      expect(factsTotal).toBeGreaterThan(0);
      await client.tools.noteAdd({ session: 'demo', content: 'x', type: 'tip' });
    };
    await works();
    await reload(MAY_ALL, MAY_NOT_LISTEN);
    await soon(() => expect(works()).rejects.toMatchObject({ code: 'unavailable' }));
    await reload(MAY_NOT_LISTEN, MAY_ALL);
    await soon(works);

    await shutdown.release(5000);
    const told = lines.map((line) => JSON.parse(line));
    expect(told).toContainEqual(
      expect.objectContaining({ level: 'error', service: 'prompt-compiler', code: 'permission_denied' }),
    );
  } finally {
    await shutdown.release(5000);
    await server.stop();
  }
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { token } from '../../src/contracts/names.js';
import { PER_SESSION, type SessionLayout } from '../../src/contracts/session-layout.js';
import { type RunningProcess, startCli } from '../support/cli.js';
import { layoutEnv } from '../support/layouts.js';
import { startTestNats } from '../support/nats-server.js';
import { soon } from '../support/soon.js';
import { allDealtWith, implemented, type System, startSystem } from '../support/system.js';

const LAYOUTS: readonly SessionLayout[] = [PER_SESSION, { layout: 'sharded', shards: 2 }];

describe.each(LAYOUTS)('a rename whose service is killed, $layout', (layout) => {
  const started: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of started.splice(0).reverse()) await stop();
  });

  async function tools(system: System): Promise<RunningProcess> {
    const running = await startCli(['serve', '--only', 'tools', '--nats', system.url], layoutEnv(layout));
    started.push(() => running.stop());
    return running;
  }

  // It waits for two seconds until all know, and copies then.
  test.each([500, 2600])(
    'killed %i ms after it has begun, it is gone on with to the end, though nobody asks again',
    async (ms) => {
      const nats = await startTestNats();
      started.push(() => nats.stop());
      const only = ['extractor', 'compiler', 'keeper'] as const;
      const system = await startSystem({ nats, env: layoutEnv(layout), only });
      started.push(() => system.stop());
      const { client, ports } = system;
      const [demo, parser] = [token('demo', 'session'), token('parser', 'session')];
      for (let at = 0; at < 60; at += 1)
        await client.publishImplementer(demo, implemented(`${at % 5}`, { summary: `said ${at}` }));
      await allDealtWith(ports);
      const { events } = await ports.log.read(demo, { after: 0 });
      const first = await tools(system);
      void client.tools.sessionRename({ session: demo, to: parser }).catch(() => {});
      await sleep(ms);
      first.signal('SIGKILL');
      await first.exited;
      const lifecycle = await ports.openLifecycle();
      started.push(async () => lifecycle.close());
      expect(lifecycle.archived(demo)?.renaming).toBeDefined();

      await tools(system);
      await soon(() => {
        expect(lifecycle.archived(demo)).toMatchObject({ renamed_to: parser });
        expect(lifecycle.archived(demo)?.renaming).toBeUndefined();
      });

      expect(lifecycle.archived(parser)).toBeUndefined();
      expect((await ports.log.read(parser, { after: 0 })).events).toHaveLength(events.length);
      expect((await ports.log.read(demo, { after: 0 })).events).toEqual([]);
      const { session } = await client.tools.sessionShow({ session: parser });
      expect(session.dispatches).toMatchObject({ implementer: 60 });
    },
  );
});

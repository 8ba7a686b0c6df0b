import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { token } from '../../src/contracts/names.js';
import type { ServiceName } from '../../src/services/serve.js';
import { type RunningProcess, startCli } from '../support/cli.js';
import { forgotten, furnished, storedText } from '../support/forgetting.js';
import { layoutEnv, testedLayouts } from '../support/layouts.js';
import { startTestNats, type TestNats } from '../support/nats-server.js';
import { soon } from '../support/soon.js';
import { filesHolding } from '../support/store-files.js';
import {
  allDealtWith,
  implemented,
  publishWire,
  reviewed,
  type System,
  startSystem,
} from '../support/system.js';

const LAYOUTS = testedLayouts(2);

describe.each(LAYOUTS)('forgetting, $layout', (layout) => {
  const started: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of started.splice(0).reverse()) await stop();
  });

  async function systemWith(only?: readonly ServiceName[]): Promise<System & { nats: TestNats }> {
    const nats = await startTestNats();
    started.push(() => nats.stop());
    const system = await startSystem({ nats, env: layoutEnv(layout), ...(only && { only }) });
    started.push(() => system.stop());
    return system;
  }

  async function process(system: System, ...only: ServiceName[]): Promise<RunningProcess> {
    const args = ['admin', 'serve', '--only', ...only, '--nats', system.url];
    const running = await startCli(args, layoutEnv(layout));
    started.push(async () => {
      running.signal('SIGCONT');
      await running.stop();
    });
    return running;
  }

  test('what a service had in hand when it stood still does not come back when it goes on', async () => {
    const system = await systemWith(['compiler', 'tools', 'keeper']);
    const still = await process(system, 'extractor', 'learnings');
    const { client, ports } = system;
    await publishWire(client, 'implementer', 'victim', implemented('1', { summary: 'CANARY first' }));
    await allDealtWith(ports);
    still.signal('SIGSTOP');
    for (let at = 0; at < 20; at += 1) {
      await publishWire(client, 'implementer', 'victim', implemented('1', { summary: `CANARY ${at}` }));
      const required_fixes = [`CANARY demand ${at}`];
      await publishWire(client, 'reviewer', 'victim', reviewed('1', 'needs_changes', { required_fixes }));
    }

    await forgotten(system, 'victim');
    still.signal('SIGCONT');
    const { sequence } = await publishWire(
      client,
      'implementer',
      'victim',
      implemented('1', { summary: 'fresh' }),
    );
    await allDealtWith(ports);
    await soon(async () => {
      const { prompt } = await client.compile({
        session: 'victim',
        taskId: '1',
        taskPrompt: 'go on',
        after: sequence,
      });
      expect(prompt).toContain('fresh');
    });

    expect(await storedText(system)).not.toContain('CANARY');
    expect(await filesHolding(system.nats.storeDir, 'CANARY')).toEqual([]);
  });

  test.each(layout.layout === 'sharded' ? [2250] : [500, 2600])(
    'killed %i ms after it has begun, it is gone on with to the end',
    async (ms) => {
      const system = await systemWith(['extractor', 'compiler', 'learnings', 'keeper']);
      const { client, ports } = system;
      const first = await process(system, 'tools');
      await furnished(system, 'victim', 'CANARY');
      await client.tools.noteAdd({ session: 'other', content: 'BIRDSONG' });
      void client.tools.sessionForget({ session: 'victim', confirm: 'victim' }).catch(() => {});
      // It waits for two seconds until all processes know, then erases.
      await sleep(ms);
      first.signal('SIGKILL');
      await first.exited;

      await process(system, 'tools');
      const lifecycle = await ports.openLifecycle();
      started.push(async () => lifecycle.close());
      await soon(() => expect(lifecycle.forgotten(token('victim', 'session'))?.status).toBe('forgotten'));

      expect(await storedText(system)).not.toContain('CANARY');
      expect(await storedText(system)).toContain('BIRDSONG');
      await soon(async () => expect(await filesHolding(system.nats.storeDir, 'CANARY')).toEqual([]));
    },
  );

  test('killed while it waits, the results that were sent after the request count in the next session of the name', async () => {
    const system = await systemWith(['extractor', 'compiler', 'keeper']);
    const { client, ports } = system;
    const first = await process(system, 'tools');
    await publishWire(client, 'implementer', 'victim', implemented('1', { summary: 'CANARY first' }));
    await allDealtWith(ports);
    void client.tools.sessionForget({ session: 'victim', confirm: 'victim' }).catch(() => {});
    const lifecycle = await ports.openLifecycle();
    started.push(async () => lifecycle.close());
    const status = () => lifecycle.forgotten(token('victim', 'session'))?.status;
    await soon(() => expect(status()).toBe('forgetting'));
    first.signal('SIGKILL');
    await first.exited;
    // By then all processes know and reject new results.
    await sleep(2500);
    const sent: number[] = [];
    for (let at = 0; at < 5; at += 1)
      sent.push((await publishWire(client, 'implementer', 'victim', implemented(`n${at}`))).sequence);

    await process(system, 'tools');
    await soon(() => expect(status()).toBe('forgotten'));
    await allDealtWith(ports);
    const events = (await ports.log.read(token('victim', 'session'), { after: 0 })).events;
    const named = events.flatMap(({ event }) =>
      event.type === 'fact.recorded' ? event.data.dispatch.sequence : [],
    );
    expect(named.sort((one, other) => one - other)).toEqual(sent);
    expect(await storedText(system)).not.toContain('CANARY');
  });
});

import { afterEach, describe, expect, test } from 'vitest';
import type { Archived } from '../../src/contracts/lifecycle-record.js';
import { token } from '../../src/contracts/names.js';
import { type RunningProcess, startCli } from '../support/cli.js';
import { layoutEnv, testedLayouts } from '../support/layouts.js';
import { startTestNats } from '../support/nats-server.js';
import { soon } from '../support/soon.js';
import { allDealtWith, implemented, type System, startSystem } from '../support/system.js';

const RESULTS = 150;

type Moment = (records: {
  readonly from: Archived | undefined;
  readonly to: Archived | undefined;
}) => boolean;

const LAYOUTS = testedLayouts(2);

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

  const recorded: Moment = ({ from }) => from?.renaming !== undefined;
  const taken: Moment = ({ to }) => to?.importing !== undefined;
  // In shards it takes a second or more to erase the old name.
  const copied: Moment = ({ from }) => from?.renaming?.copied === true;

  test.each([
    ['it is recorded', recorded],
    ['the new name is taken', taken],
    ...(layout.layout === 'sharded' ? [['all is copied', copied] as const] : []),
  ] as const)(
    'killed once %s, it is gone on with to the end, though nobody asks again',
    async (_, isMoment) => {
      const nats = await startTestNats();
      started.push(() => nats.stop());
      const only = ['extractor', 'compiler', 'keeper'] as const;
      const system = await startSystem({ nats, env: layoutEnv(layout), only });
      started.push(() => system.stop());
      const { client, ports } = system;
      const [demo, parser] = [token('demo', 'session'), token('parser', 'session')];
      for (let at = 0; at < RESULTS; at += 1)
        await client.publishImplementer(demo, implemented(`${at % 5}`, { summary: `said ${at}` }));
      await allDealtWith(ports);
      const { events } = await ports.log.read(demo, { after: 0 });
      const first = await tools(system);
      const lifecycle = await ports.openLifecycle();
      started.push(async () => lifecycle.close());
      const reached = new Promise<void>((resolve) => {
        lifecycle.onChange(() => {
          if (isMoment({ from: lifecycle.archived(demo), to: lifecycle.archived(parser) })) resolve();
        });
      });
      void client.tools.sessionRename({ session: demo, to: parser }).catch(() => {});
      await reached;
      first.signal('SIGKILL');
      await first.exited;
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
      expect(session.dispatches).toMatchObject({ implementer: RESULTS });
    },
  );
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { Shutdown } from '../../src/engine/runtime/shutdown.js';
import { connectThroughline } from '../../src/index.js';
import { serve } from '../../src/services/serve.js';
import { runPlan } from '../../src/work/run-plan.js';
import type { RunPlanEvent } from '../../src/work/run-types.js';
import { newFolder } from '../support/of-file.js';
import { scriptedAgents } from '../support/scripted-agents.js';
import { SOON_MS } from '../support/soon.js';
import { startPrivateSystem } from '../support/system.js';

/** Stops the services, or the NATS server, for a while after every single step of a run. */

const PLAN = '- [ ] 1. Expressions\n- [ ] 2. Statements\n';
/** Downtime in milliseconds: longer than most requests of a run take. */
const GONE_MS = 150;

describe.each(['services', 'server'] as const)('a run whose %s end at every step', (what) => {
  it('comes to the same as one that nothing happens to', { timeout: 120_000 }, async () => {
    await using folder = await newFolder();
    const plan = await folder.write('tasks.md', PLAN);
    await using system = await startPrivateSystem({ only: [] });
    const { nats } = system;
    // No one answers a request lost with the server: it times out soon.
    await using client = await connectThroughline({ url: nats.url, timeoutMs: 1000 });
    const config = loadConfig({ THROUGHLINE_TASKS_ROOTS: folder.path });
    const start = async () => {
      const shutdown = new Shutdown();
      await serve(nats.url, { config, logger: silentLogger, shutdown });
      return shutdown;
    };
    let services = await start();
    let faults = 0;
    const outage = async () => {
      faults += 1;
      if (what === 'server') {
        await nats.kill();
        await sleep(GONE_MS);
        return nats.restart();
      }
      await services.release(SOON_MS);
      await sleep(GONE_MS);
      services = await start();
    };
    let before: Promise<void> = Promise.resolve();
    const onEvent = ({ type }: RunPlanEvent) => {
      if (type !== 'note' && type !== 'run-ended') before = before.then(outage);
    };
    const agents = scriptedAgents({ '1 reviewer': ['needs_changes'] });
    // Agents answer during the downtime.
    const { implementer, reviewer } = agents;
    const given = { client, plan, session: 'outages', tick: true, implementer, reviewer };
    const summary = await runPlan({ ...given, patienceMs: 60_000, onEvent });
    await before;
    expect(summary).toMatchObject({ outcome: 'done', done: 2, rounds: 3, findings: 1 });
    expect(faults).toBeGreaterThan(15);
    const { tasks } = await client.runs.status({ session: 'outages' });
    expect(tasks.map(({ task, dispatches }) => [task, dispatches])).toEqual([
      ['1', 4],
      ['2', 2],
    ]);
    expect(agents.calls).toHaveLength(6);
    await services.release(SOON_MS);
  });
});

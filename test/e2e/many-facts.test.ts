import { expect, it } from 'vitest';
import { median } from '../../scripts/bench/stats.mjs';
import { cli } from '../support/cli.js';
import { allDealtWith, newSession, soon, systemOfFile } from '../support/system.js';

const system = await systemOfFile();
const EACH = 50;
const RESULTS = 2000;

it('a session of 100,000 facts keeps the most useful, status counts the others, and other sessions stay as fast', async () => {
  const [large, small] = [newSession('large'), newSession('small')];
  const publish = (session: string, n: number) => {
    const facts = Array.from({ length: EACH }, (_, at) => ({
      subject: `module ${n}.${at}`,
      relation: 'uses',
      object: `table ${n}.${at}`,
    }));
    const result = { task_id: `${n}`, status: 'completed', summary: `Step ${n}`, facts };
    return system.client.publishText(session, 'implementer', JSON.stringify(result));
  };
  const prompts = async () => {
    const times: number[] = [];
    for (let turn = 0; turn < 40; turn += 1) {
      const began = performance.now();
      await system.client.compile({ session: small, taskId: 'next', taskPrompt: 'Write the reader' });
      times.push(performance.now() - began);
    }
    return median(times);
  };
  await publish(small, 1);
  await allDealtWith(system.ports);
  await prompts();
  const before = await prompts();
  // It is looked at while it grows.
  for (let from = 0; from < RESULTS; from += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, at) => publish(large, from + at)));
    await soon(() => system.client.runs.status({ session: large }));
  }
  await allDealtWith(system.ports);
  const { session } = await system.client.runs.status({ session: large });
  const { facts, dropped = 0 } = session;
  expect(facts).toBeLessThanOrEqual(2500);
  expect(facts + dropped).toBeGreaterThanOrEqual(EACH * RESULTS);
  expect(await prompts()).toBeLessThan(3 * before);
  const { stdout } = await cli(['status', large], { env: { NATS_URL: system.url } });
  expect(stdout).toContain(`facts: ${facts} hold; ${dropped} of least use are gone, as the session is full`);
});

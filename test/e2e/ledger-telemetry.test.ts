import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { totalTelemetry, unwrittenTelemetry } from '../../src/contracts/compile-request.js';
import { COMPILE_SUBJECT, COMPILER_SERVICE, type Token } from '../../src/contracts/names.js';
import { planSystemOfFile, TASKS_MD, TASKS_MD_LATER } from '../support/runs.js';
import { eventsOf, implemented, newSession, publishWire } from '../support/system.js';

const { folder, system } = await planSystemOfFile();

const stats = z.object({
  name: z.string(),
  endpoints: z.array(
    z.object({
      name: z.string(),
      num_requests: z.number(),
      data: z.unknown(),
    }),
  ),
});

/** What `nats micro stats prompt-compiler` reads. */
async function compilerStats() {
  const reply = await system.ports.connection.request(`$SRV.STATS.${COMPILER_SERVICE}`, '', {
    timeout: 5000,
  });
  return stats.parse(reply.json());
}

async function unwritten() {
  const { endpoints } = await compilerStats();
  return unwrittenTelemetry.parse(endpoints.find(({ name }) => name === 'compile')?.data);
}

/** What is stored of a session, with what is not written yet. */
async function telemetryOf(session: Token) {
  const compilers = [await unwritten()];
  return totalTelemetry(await system.ports.telemetry.load(session), compilers, session);
}

/** Asks with an unchecked body. */
async function ask(body: object): Promise<void> {
  await system.ports.connection.request(COMPILE_SUBJECT, JSON.stringify(body), { timeout: 5000 });
}

const TASK = { taskId: '2.2', taskPrompt: 'Write the statements' };

describe('the statistics of the compiler', () => {
  it('the statistics of the compiler say for each session what was compiled, from what, and what failed', async () => {
    const session = newSession('stats');
    await system.client.compile({ session, ...TASK });
    const { sequence } = await publishWire(system.client, 'implementer', session, implemented('2.2'));
    await system.client.compile({ session, ...TASK, after: sequence });
    const long = `Write it.\n\n${'Read one more line.\n'.repeat(2000)}`;
    await system.client.compile({ session, ...TASK, taskPrompt: long });
    await ask({ session, ...TASK, taskPrompt: 'x'.repeat(40_000) });
    await ask({ session, taskId: '1' });
    await ask({ session, ...TASK, asOf: 99 });
    const found = await telemetryOf(session);
    expect(found).toMatchObject({
      compiles: 3,
      errors: { prompt_overflow: 1, schema_invalid: 1, not_caught_up: 1 },
      ledgerModes: { none: 1, ledger: 2 },
      shortened: 1,
    });
    expect(found.tokensWanted).toBeGreaterThan(found.tokensUsed + 5000);
    expect(found.retrievalMaxMs).toBeGreaterThan(0);
    expect(found.retrievalMs).toBeGreaterThanOrEqual(found.retrievalMaxMs);
    expect((await eventsOf(system, session)).map(({ event }) => event.type)).toEqual(['fact.recorded']);
  });

  it('a changed file is recorded once however many prompts find it, and telemetry counts each prompt that went without by its reason', async () => {
    const session = newSession('rebuilt');
    const tasksPath = await folder.write(`${session}.md`, TASKS_MD);
    await system.client.initRun({ session, spec: 'parser', tasksPath });
    await folder.write(`${session}.md`, TASKS_MD_LATER);
    await Promise.all(Array.from({ length: 20 }, () => system.client.compile({ session, ...TASK })));
    expect(await telemetryOf(session)).toMatchObject({ compiles: 20, ledgerModes: { ledger: 20 } });
    const types = (await eventsOf(system, session)).map(({ event }) => event.type);
    expect(types).toEqual(['run.initialized', 'progress.rebuilt']);
    await folder.drop(`${session}.md`);
    await system.client.compile({ session, ...TASK });
    await system.client.compile({ session, ...TASK, taskId: 'none' });
    await folder.write(`${session}.md`, TASKS_MD_LATER);
    await system.client.compile({ session, ...TASK, taskId: 'none' });
    expect(await telemetryOf(session)).toMatchObject({
      compiles: 23,
      ledgerModes: { ledger: 20, ledger_plus_fallback: 3 },
      fallbacks: { rebuild_failed: 2, progress_ledger_incomplete: 1 },
    });
  });
});

import { headers } from 'nats';
import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { waitLimit } from '../../src/engine/folding/caught-up.js';
import { createSessionReader } from '../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { WINDOW_LENGTH } from '../../src/memory/session/dispatch-window.js';
import { DEFAULT_LIMITS } from '../../src/memory/session/session-state.js';
import { createDispatchResults } from '../../src/services/tools/result-queries.js';
import { MemorySnapshotStore } from '../doubles/memory-snapshot-store.js';
import {
  allDealtWith,
  newestOf,
  newSession,
  publishWork,
  startSystem,
  systemOfFile,
} from '../support/system.js';

const system = await systemOfFile({ env: { THROUGHLINE_TUNING: 'afterTimeoutMs=3000' } });

const TASK = { taskId: '1', taskPrompt: 'go on' };
/** Its task can be read, and nothing else. */
const WRONG = '{"task_id":"1","summary":"half of it"}';

function refusal(request: Promise<unknown>): Promise<ThroughlineError> {
  return request.then(
    () => {
      throw new Error('it was answered');
    },
    (error: unknown) => {
      if (error instanceof ThroughlineError) return error;
      throw error;
    },
  );
}

describe('a prompt after a rejected dispatch', () => {
  it('the error dispatch_rejected says the code, the reason and the task, and the next prompt of the task says it too', async () => {
    const { client } = system;
    const session = newSession('after');
    const { sequence } = await client.publishText(session, 'implementer', WRONG);
    const refused = await refusal(client.compile({ session, ...TASK, after: sequence }));
    expect(refused.code).toBe('dispatch_rejected');
    expect(refused.message).toMatch(
      new RegExp(
        `^result ${sequence} could not be used, schema_invalid: status is missing.*\\. To fix it: .*"throughline result ls --session ${session}"`,
      ),
    );
    expect(refused.details).toMatchObject({
      dispatch: sequence,
      code: 'schema_invalid',
      reason: expect.stringContaining('status is missing'),
      task: '1',
    });

    const line = /^Unreadable: Your last result of this task could not be read \("status is missing/m;
    const { prompt } = await client.compile({ session, ...TASK });
    expect(prompt).toMatch(line);
    expect((await client.compile({ session, ...TASK, taskId: '2' })).prompt).not.toMatch(line);
    expect(await client.runs.status({ session })).toMatchObject({
      unreadable: [{ task: '1', dispatch: sequence, role: 'implementer', code: 'schema_invalid' }],
    });

    const after = (await publishWork(client, session, '1')).sequence;
    expect((await client.compile({ session, ...TASK, after })).prompt).not.toContain('Unreadable');
    expect((await client.runs.status({ session })).unreadable).toEqual([]);
    // What was rejected stays so.
    expect((await refusal(client.compile({ session, ...TASK, after: sequence }))).code).toBe(
      'dispatch_rejected',
    );
  });
});

describe('dispatch-show', () => {
  it('dispatch-show knows what became of a dispatch as long as anything of it is remembered, and says when nothing is', async () => {
    const { client } = system;
    const session = newSession('show');
    const facts = await publishWork(client, session, '1');
    const wrong = await client.publishText(session, 'implementer', WRONG);
    const bare = await client.publishText(session, 'observer', '{"task_id":"1","summary":"seen"}');
    let last = bare.sequence;
    for (let each = 0; each < WINDOW_LENGTH; each += 1)
      last = (await publishWork(client, session, '1', { summary: `step ${each}` })).sequence;
    await client.tools.dispatchShow({ session, dispatch: last });
    const shown = async ({ sequence: dispatch }: { sequence: number }) =>
      (await client.tools.dispatchShow({ session, dispatch })).status;
    expect([await shown(facts), await shown(wrong), await shown(bare)]).toEqual([
      'recorded',
      'rejected',
      'recorded',
    ]);

    // A session that keeps few facts remembers of the oldest dispatches only that they counted.
    const reader = createSessionReader({
      log: system.ports.log,
      snapshots: new MemorySnapshotStore(),
      limits: { ...DEFAULT_LIMITS, maxFacts: 1 },
      logger: silentLogger,
      maxCached: 1,
    });
    const show = createDispatchResults({
      reader,
      log: system.ports.log,
      waiters: waitLimit(),
      afterTimeoutMs: 1000,
    });
    expect(await show({ session, dispatch: facts.sequence })).toEqual({
      dispatch: facts.sequence,
      sequence: await newestOf(system, session),
      status: 'counted',
    });
  });
});

describe('a publisher that waits', () => {
  it('the SDK says that a result is stored when no extractor answers in time', async () => {
    await using quiet = await startSystem({
      only: ['tools', 'learnings'],
      env: { THROUGHLINE_TUNING: 'afterTimeoutMs=50' },
    });
    const session = newSession('wait');
    const refused = await refusal(publishWork(quiet.client, session, '1', {}, { wait: true }));
    expect(refused).toMatchObject({ code: 'not_caught_up', details: { dispatch: 1 } });
    expect(refused.message).toMatch(
      /^stored as result 1, but what became of it is not known: .*extractor runs/,
    );
  });
});

describe('an empty body', () => {
  it('is rejected with its reason, with and without headers, and so is whatever stands in place of our own empty messages', async () => {
    const { client, ports } = system;
    const session = newSession('empty');
    const js = ports.connection.jetstream();
    const id = headers();
    id.set('Nats-Msg-Id', session);
    const sent = [
      await js.publish(`dispatch.${session}.implementer`),
      await js.publish(`dispatch.${session}.implementer`, '', { headers: id }),
    ];
    const refused = await refusal(client.compile({ session, ...TASK, after: sent[1]?.seq ?? 0 }));
    expect(refused).toMatchObject({ code: 'dispatch_rejected', details: { code: 'marker_missing' } });
    sent.push(await js.publish('dispatch.void'), await js.publish('dispatch.void', '{"task_id":"1"}'));
    await allDealtWith(ports);
    const { rejected } = await client.tools.rejectedList({});
    for (const { seq } of sent)
      expect(rejected.find(({ sequence }) => sequence === seq)).toMatchObject({ reason: expect.any(String) });
    expect(rejected.find(({ sequence }) => sequence === sent[0]?.seq)).toMatchObject({
      reason: 'the body is empty',
    });
  });
});

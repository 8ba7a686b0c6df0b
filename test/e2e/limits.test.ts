import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messageOf, ThroughlineError } from '../../src/contracts/errors.js';
import {
  COMPILER_SERVICE,
  EXTRACTOR_SERVICE,
  healthSubject,
  KEEPER_SERVICE,
  LEARNINGS_SERVICE,
} from '../../src/contracts/names.js';
import { TOOLS_SERVICE } from '../../src/contracts/tool-requests.js';
import { type PrivateNats, startPrivateNats } from '../support/nats-server.js';
import {
  allDealtWith,
  eventsOf,
  freshState,
  implemented,
  newSession,
  publishWire,
  type System,
  soon,
  startSystem,
} from '../support/system.js';

const PER_SECOND = 20;

const MAX_PAYLOAD = 4096;

let nats: PrivateNats;
let system: System;
beforeAll(async () => {
  nats = await startPrivateNats({ maxPayloadBytes: MAX_PAYLOAD });
  system = await startSystem({
    nats,
    env: {
      THROUGHLINE_TUNING: `requestsPerSecond=${PER_SECOND} maxBodyBytes=1024`,
    },
  });
});
afterAll(async () => {
  await system.stop();
  await nats.stop();
});

/** The error of a request. */
async function refusal(work: Promise<unknown>): Promise<ThroughlineError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ThroughlineError) return error;
    throw error;
  }
  throw new Error('the request was answered');
}

describe('the rate of a session', () => {
  it('limits the rate of a session with an error that says when to try again, and then lets it through', async () => {
    const session = newSession('flood');
    const other = newSession('other');
    const { tools } = system.client;
    const flood = Array.from({ length: 10 * PER_SECOND }, () => tools.sessionShow({ session }));
    const quiet = tools.noteAdd({ session: other, content: 'not a flood' });
    const results = await Promise.allSettled(flood);
    expect((await quiet).note.id).toBe('NOT-1');
    const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(results.length - refused.length).toBeGreaterThanOrEqual(2 * PER_SECOND);
    expect(refused.length).toBeGreaterThan(PER_SECOND);
    for (const error of refused) {
      expect(error).toMatchObject({ code: 'rate_limited', details: { perSecond: PER_SECOND } });
      expect(messageOf(error)).toMatch(
        /try again in \d+ ms, or raise requestsPerSecond of THROUGHLINE_TUNING$/,
      );
    }
    expect(await soon(() => tools.sessionShow({ session }))).toMatchObject({ session: { name: session } });
  });

  it('applies no rate limit to dispatches: a flood of them is kept whole, and others are answered meanwhile', async () => {
    const session = newSession('flood');
    const other = newSession('other');
    const published = Array.from({ length: 2000 }, (_, index) =>
      publishWire(system.client, 'implementer', session, implemented(`t${index % 50}`)),
    );
    const meanwhile = await system.client.compile({
      session: other,
      taskId: '1',
      taskPrompt: 'x',
      maxFacts: 1,
    });
    expect(meanwhile.factsTotal).toBe(0);
    await Promise.all(published);
    const { sequence } = await publishWire(system.client, 'implementer', other, implemented('1'));
    await allDealtWith(system.ports);
    expect((await freshState(system, session)).dispatches.current().counts.implementer).toBe(2000);
    expect(await eventsOf(system, other)).toMatchObject([{ event: { data: { dispatch: { sequence } } } }]);
  });
});

describe('the bytes of a caller', () => {
  it.each([EXTRACTOR_SERVICE, COMPILER_SERVICE, TOOLS_SERVICE, LEARNINGS_SERVICE, KEEPER_SERVICE])(
    'limits the bytes of a caller that asks for the health of %s',
    async (service) => {
      await using limited = await startSystem({ fixed: { requestKbPerSecond: 1 } });
      const health = async () => {
        const { connection } = limited.ports;
        return (
          await connection.request(healthSubject(service), '{}'.padEnd(2000), { timeout: 5000 })
        ).json();
      };
      expect(await health()).toMatchObject({ errors: 0 });
      const error = { code: 'rate_limited', details: { kbPerSecond: 1 } };
      expect(await health()).toMatchObject({ error });
    },
  );
});

describe('a size', () => {
  it('limits the size of a request to what the server takes', async () => {
    const request = { session: newSession('size'), content: 'x'.repeat(5000) };
    expect(await refusal(system.client.tools.noteAdd(request))).toMatchObject({
      code: 'too_large',
    });
  });

  it('limits the size of a reply with an error that says what to ask less of', async () => {
    const session = newSession('size');
    const { tools } = system.client;
    for (let each = 0; each < 6; each += 1) await tools.noteAdd({ session, content: 'x'.repeat(800) });
    await tools.noteAdd({ session, content: 'short', type: 'tip' });
    const listed = await refusal(tools.noteList({ session }));
    expect(listed).toMatchObject({ code: 'too_large', details: { limit: MAX_PAYLOAD } });
    expect(listed.message).toContain('ask for less by its filters');
    expect((await tools.noteList({ session, type: 'tip' })).notes).toHaveLength(1);
    const compiled = await refusal(
      system.client.compile({ session, taskId: '1', taskPrompt: 'x'.repeat(3500) }),
    );
    expect(compiled.message).toMatch(
      /^the reply has \d+ bytes, the limit is 4096: ask for less by maxFacts, maxTokens or a shorter taskPrompt/,
    );
  });

  it('limits the size of a dispatch, and keeps it with the limit in its reason', async () => {
    const session = newSession('size');
    await publishWire(system.client, 'implementer', session, implemented('1', { summary: 'x'.repeat(2000) }));
    await allDealtWith(system.ports);
    expect(await eventsOf(system, session)).toMatchObject([
      {
        event: {
          data: { error: { code: 'too_large', reason: expect.stringMatching(/the limit is 1024$/) } },
        },
      },
    ]);
  });
});

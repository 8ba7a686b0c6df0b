import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DISPATCH_STREAM, dispatchSubject, EXTRACTOR_CONSUMER } from '../../src/contracts/names.js';
import { type Exit, startCli, startNode } from '../support/cli.js';
import { startPrivateNats, startTestNats, type TestNats } from '../support/nats-server.js';
import {
  allDealtWith,
  eventsOf,
  freshState,
  manyResults,
  newSession,
  openPorts,
  remembered,
  type System,
  soon,
  startPrivateSystem,
  startSystem,
} from '../support/system.js';

/** Short, so that what a dead worker held comes again soon. */
const env = { THROUGHLINE_TUNING: 'ackWaitMs=500 requestTimeoutMs=3000' };
const RESULTS = manyResults(60);
const MORTAL = fileURLToPath(new URL('../support/faults/mortal-worker.mjs', import.meta.url));

let nats: TestNats;
let clean: ReturnType<typeof remembered>;

beforeAll(async () => {
  await using system = await startSystem({ env });
  const session = newSession('clean');
  const published = await publishAll(system, session);
  await allDealtWith(system.ports);
  clean = remembered(await freshState(system, session), published);
});

/** All at once; the stream keeps the order in which they were sent. */
async function publishAll({ client }: System, session: string): Promise<number[]> {
  const sent = RESULTS.map(({ role, body }) => client.publishText(session, role, body));
  return (await Promise.all(sent)).map(({ sequence }) => sequence);
}

/** Runs a worker until it kills itself after `dieAfter` appends. */
async function runCrashing(url: string, dieAfter: number): Promise<Exit> {
  const worker = await startNode([MORTAL, url, 'after append, before ack', String(dieAfter)], env);
  return worker.exited;
}

describe('a worker killed between append and ack', () => {
  beforeAll(async () => {
    nats = await startTestNats();
  });
  afterAll(() => nats.stop());

  it.each([1, 17, 60])(
    'a second worker finishes what a worker killed after append %i left, with the same result as a clean run',
    async (n) => {
      await using bystander = await startSystem({ nats, env, only: [] });
      const session = newSession('killed');
      const published = await publishAll(bystander, session);
      expect(await runCrashing(nats.url, n)).toEqual({ code: null, signal: 'SIGKILL' });
      const unacknowledged = await pendingOf(bystander);
      expect(unacknowledged).toBeGreaterThan(0);

      await using second = await startSystem({ nats, env });
      await allDealtWith(second.ports);
      expect(await eventsOf(second, session)).toHaveLength(RESULTS.length);
      expect(remembered(await freshState(second, session), published)).toEqual(clean);
    },
  );

  it('a killed worker’s session stays the same when every event comes again, last first', async () => {
    await using system = await startSystem({ nats, env });
    const session = newSession('reversed');
    const published = await publishAll(system, session);
    await allDealtWith(system.ports);
    for (const { event } of (await eventsOf(system, session)).toReversed()) {
      await system.ports.log.append(session, event);
    }
    expect(await eventsOf(system, session)).toHaveLength(2 * RESULTS.length);
    expect(remembered(await freshState(system, session), published)).toEqual(clean);
  });
});

async function pendingOf({ ports }: System): Promise<number> {
  const jsm = await ports.connection.jetstreamManager();
  return (await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER)).num_ack_pending;
}

describe('the server killed and started again in mid-stream', () => {
  it('a server killed and restarted in mid-stream loses no dispatch and counts each one once', async () => {
    await using system = await startPrivateSystem({ env });
    const publisher = await openPorts(system);
    const session = newSession('restart');
    const published: number[] = [];
    let reached = () => {};
    const halfWay = new Promise<void>((resolve) => {
      reached = resolve;
    });

    /** As a careful publisher does it: again until there is a PubAck, under one message id. */
    const publishSurely = async (role: 'implementer' | 'reviewer', body: string, id: string) => {
      for (;;) {
        try {
          const sent = publisher.source.publish(dispatchSubject(session, role), Buffer.from(body), id);
          return (await sent).sequence;
        } catch {
          // No PubAck: it may be stored or not.
        }
      }
    };
    const publishing = (async () => {
      for (const [index, { role, body }] of RESULTS.entries()) {
        published.push(await publishSurely(role, body, `result-${index}`));
        if (index === RESULTS.length / 2) reached();
      }
    })();
    await halfWay;
    await system.nats.kill();
    await system.nats.restart();
    await publishing;

    expect(new Set(published).size).toBe(RESULTS.length);
    // What was in hand when the server died comes again, and may come after the last one.
    await allDealtWith(system.ports);
    const last = published.at(-1) ?? 0;
    const reply = await soon(() =>
      system.client.compile({ session, taskId: 'next', taskPrompt: 'step', after: last }),
    );
    expect(reply.factsTotal).toBe(clean.facts.filter((fact) => fact.endsWith('open')).length);
    expect(remembered(await freshState(system, session), published)).toEqual(clean);
    await publisher.close();
  });
});

describe('two extractor processes on one session', () => {
  it('two extractors on one session count every result once, even when one of them is killed', async () => {
    await using system = await startSystem({ env, only: ['compiler'] });
    const session = newSession('two');
    const start = () => startCli(['admin', 'serve', '--only', 'extractor'], { ...env, NATS_URL: system.url });
    const [first, second] = await Promise.all([start(), start()]);
    const jsm = await system.ports.connection.jetstreamManager();
    await soon(async () => {
      const { num_waiting } = await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
      expect(num_waiting).toBeGreaterThanOrEqual(2);
    });

    const published = await publishAll(system, session);
    first.signal('SIGKILL');
    await allDealtWith(system.ports);
    expect(remembered(await freshState(system, session), published)).toEqual(clean);
    expect((await first.exited).signal).toBe('SIGKILL');
    expect(await second.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('a process whose server is gone', () => {
  it.each(['service', 'client'] as const)(
    'a process whose server is gone still ends when it is told to: a %s',
    async (kind) => {
      await using server = await startPrivateNats();
      const running =
        kind === 'service'
          ? await startCli(['admin', 'serve'], { NATS_URL: server.url })
          : await startNode(['--input-type=module', '-e', CLIENT, SDK, server.url]);
      await server.kill();
      running.signal('SIGTERM');
      expect(await running.exited).toEqual({ code: 0, signal: null });
    },
  );
});

const SDK = new URL('../../dist/index.js', import.meta.url).href;
const CLIENT = `
const [sdk, url] = process.argv.slice(1);
const { connectThroughline } = await import(sdk);
const client = await connectThroughline({ url });
process.once('SIGTERM', () => client.close());
console.log('ready');`;

import { describe, expect, it } from 'vitest';
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER } from '../../src/contracts/names.js';
import { startCli, startNode } from '../support/cli.js';
import { startPrivateNats } from '../support/nats-server.js';
import {
  allDealtWith,
  freshState,
  manyResults,
  newSession,
  remembered,
  type System,
  soon,
  startSystem,
} from '../support/system.js';

/** Short, so that what a dead worker held comes again soon. */
const env = { THROUGHLINE_TUNING: 'ackWaitMs=500 requestTimeoutMs=3000' };
const RESULTS = manyResults(60);

await using system = await startSystem({ env });
const session = newSession('clean');
const published = await publishAll(system, session);
await allDealtWith(system.ports);
const clean = remembered(await freshState(system, session), published);

/** All at once; the stream keeps the order in which they were sent. */
async function publishAll({ client }: System, session: string): Promise<number[]> {
  const sent = RESULTS.map(({ role, body }) => client.publishText(session, role, body));
  return (await Promise.all(sent)).map(({ sequence }) => sequence);
}

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

import { hostname } from 'node:os';
import { DiscardPolicy } from 'nats';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ERROR_CODES } from '../../src/contracts/error-codes.js';
import { sessionStream, type Token } from '../../src/contracts/names.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { connectThroughline } from '../../src/index.js';
import { connectNats } from '../../src/nats/connection/connect-nats.js';
import { type RunningProcess, startCli } from '../support/cli.js';
import { startPrivateNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';
import { newSession, publishWork, soon } from '../support/system.js';

/** What the services log, read as an operator's tools read it: JSON lines on standard error of a real process. */

const line = z.looseObject({
  level: z.enum(['debug', 'info', 'warn', 'error']),
  time: z.iso.datetime(),
  service: z.enum(['throughline', 'extractor', 'prompt-compiler', 'session-tools', 'learnings', 'keeper']),
  msg: z.string(),
  code: z.string().optional(),
  session: z.string().optional(),
  dispatch: z.number().optional(),
});

const nats = await ofFile(startPrivateNats());
const env = { NATS_URL: nats.url, THROUGHLINE_LOG_LEVEL: 'info', THROUGHLINE_TUNING: 'snapshotEvery=1' };
const services = await ofFile(startCli(['admin', 'serve'], env));
const client = await ofFile(connectThroughline({ url: nats.url }));
const admin = await ofFile(connectNats({ url: nats.url, name: 'admin', logger: silentLogger }));
const jsm = await admin.jetstreamManager();

function logged(process = services) {
  const lines = process.stderr().split('\n').slice(0, -1);
  return lines.map((each) => line.parse(JSON.parse(each)));
}

/** Waits for a line with these fields. */
const said = (fields: object) => soon(() => expect(logged()).toContainEqual(expect.objectContaining(fields)));

async function fullSession(): Promise<Token> {
  const session = newSession('full');
  await jsm.streams.add({
    name: sessionStream(session),
    subjects: [`session.${session}.>`],
    allow_direct: true,
    max_bytes: 1,
    discard: DiscardPolicy.New,
  });
  return session;
}

describe('a line of the log', () => {
  it('logs a rejected result with session, dispatch and code', async () => {
    const session = newSession('rejected');
    const { sequence: dispatch } = await client.publishText(session, 'implementer', 'no result');
    await said({
      msg: 'dispatch rejected',
      level: 'warn',
      service: 'extractor',
      session,
      dispatch,
      code: 'marker_missing',
    });
  });

  it('logs a failed request with session, endpoint and code', async () => {
    const session = await fullSession();
    await expect(client.tools.taskAdd({ session, content: 'x' })).rejects.toMatchObject({
      code: 'store_full',
    });
    await said({
      msg: 'request failed',
      level: 'error',
      service: 'session-tools',
      session,
      endpoint: 'task-add-session',
      code: 'store_full',
    });
  });

  it('logs that the connection was lost, and that it came back', async () => {
    await nats.restart();
    await said({ msg: 'NATS connection lost, reconnecting', code: 'unavailable' });
    await said({ msg: 'NATS connection restored', level: 'info', service: 'throughline' });
  });

  it('shows the last warning in the health of the service, without what came from outside', async () => {
    const session = newSession('shown');
    // One of its own: the other may not have found back to the server yet.
    await using again = await connectThroughline({ url: nats.url });
    const { sequence: dispatch } = await again.publishText(session, 'implementer', 'a text of an agent');
    const stats = z.object({ endpoints: z.array(z.object({ name: z.string(), data: z.unknown() })) });
    // Asked before a service is back, a request is lost; and what asked for longer warns of that some seconds later.
    await soon(async () => {
      const reply = await admin.request('$SRV.STATS.extractor', '', { timeout: 500 });
      const { endpoints } = stats.parse(reply.json());
      const { data } = endpoints.find(({ name }) => name === 'health') ?? {};
      expect(data).toMatchObject({
        connection: { connected: true, disconnects: 1 },
        errors: expect.any(Number),
        rejected: expect.any(Number),
        inHand: 0,
        backlog: { waiting: 0, inHand: 0 },
        uptimeSeconds: expect.any(Number),
        host: hostname(),
        lastIncident: {
          level: 'warn',
          message: 'dispatch rejected',
          session,
          dispatch,
          code: 'marker_missing',
        },
      });
      expect(JSON.stringify(data)).not.toContain('agent');
    });
  });

  it('logs which consumer was deleted', async () => {
    await jsm.consumers.delete('DISPATCH', 'extractor');
    const msg = 'the consumer is gone and will be created again';
    await said({ msg, consumer: 'extractor', code: 'unavailable' });
  });

  it('has one of the stable codes, wherever it warns or worse', () => {
    const warnings = logged().filter(({ level }) => level === 'warn' || level === 'error');
    expect(warnings.length).toBeGreaterThan(3);
    expect(warnings.filter(({ code }) => code === undefined || !Object.hasOwn(ERROR_CODES, code))).toEqual(
      [],
    );
  });
});

const SERVICES = ['extractor', 'prompt-compiler', 'session-tools', 'learnings', 'keeper'];

describe('a service that runs well', () => {
  it('logs one line when it starts and one when it stops', async () => {
    const running = await startCli(['admin', 'serve'], { NATS_URL: nats.url, THROUGHLINE_LOG_LEVEL: 'info' });
    await running.stop();
    const named = (msg: string) =>
      logged(running).flatMap((each) => (each.msg === msg ? [each.service] : []));
    expect(named('service started')).toEqual(SERVICES);
    expect(named('service stopped')).toEqual(SERVICES.toReversed());
    expect(running.stderr().split('\n')).toHaveLength(2 * SERVICES.length + 1);
  });

  it('logs a line for each recorded dispatch at level debug, and none at level info', async () => {
    const session = newSession('debug');
    await services.stop();
    await using talkative = await startCli(['admin', 'serve', '--only', 'extractor'], {
      NATS_URL: nats.url,
      THROUGHLINE_LOG_LEVEL: 'debug',
    });
    await using again = await connectThroughline({ url: nats.url });
    const { sequence: dispatch } = await publishWork(again, session, '1');
    const recorded = (process: RunningProcess) =>
      logged(process).filter(({ msg }) => msg === 'dispatch recorded');
    const debug = { level: 'debug', service: 'extractor', session, dispatch };
    await soon(() => expect(recorded(talkative)).toEqual([expect.objectContaining(debug)]));
    expect(recorded(services)).toEqual([]);
  });
});

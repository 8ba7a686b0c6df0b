import type { JetStreamManager } from 'nats';
import { describe, expect, it } from 'vitest';
import { PER_SESSION, type SessionLayout } from '../../src/contracts/names.js';
import { connectThroughline } from '../../src/index.js';
import { cli } from '../support/cli.js';
import { doctor, of } from '../support/doctor.js';
import { layoutEnv } from '../support/layouts.js';
import { plainConnection, startTestNats } from '../support/nats-server.js';
import { implemented, publishWork, startSystem } from '../support/system.js';

/** An account in which the stream `ORDERS` of another application takes these subjects. */
async function accountOf(subjects: string) {
  const server = await startTestNats();
  const connection = await plainConnection(server.url);
  const jsm: JetStreamManager = await connection.jetstreamManager();
  await jsm.streams.add({ name: 'ORDERS', subjects: [subjects] });
  return {
    ...server,
    jsm,
    async [Symbol.asyncDispose]() {
      await connection.close();
      await server.stop();
    },
  };
}

const SHARDED: SessionLayout = { layout: 'sharded', shards: 4 };

const APART = 'give one of the two an account of its own, or the other stream other subjects';

describe('a stream of another application on our subjects', () => {
  it.each<[subjects: string, belongs: string, layout?: SessionLayout]>([
    ['dispatch.>', 'dispatch.> belongs to stream DISPATCH'],
    ['session.*.result.>', 'session.> belongs to stream SESSION_NAME', PER_SESSION],
    ['sessions.*.demo.>', 'sessions.> belongs to stream SESSIONS_00', SHARDED],
    ['learning.*.proposed', 'learning.*.> belongs to stream LEARNINGS'],
  ])(
    'services that start name a stream of another application on our subjects: %s',
    async (subjects, belongs, layout = PER_SESSION) => {
      await using server = await accountOf(subjects);
      await expect(startSystem({ nats: server, env: layoutEnv(layout) })).rejects.toMatchObject({
        code: 'config_invalid',
        message: `${belongs}, but is taken by stream ORDERS of another application: ${APART}`,
      });
    },
  );

  it('a publisher hears of another application’s stream, and is not told that its result was stored', async () => {
    await using server = await accountOf('dispatch.>');
    const message = `dispatch.demo.implementer belongs to stream DISPATCH, but is taken by stream ORDERS of another application: ${APART}`;
    await using client = await connectThroughline({ url: server.url });
    await expect(publishWork(client, 'demo', '1')).rejects.toMatchObject({
      code: 'config_invalid',
      message,
    });
    const published = await cli(['publish', 'implementer', '-s', 'demo'], {
      env: { NATS_URL: server.url },
      input: JSON.stringify(implemented('1')),
    });
    expect(published).toEqual({ code: 2, stdout: '', stderr: `throughline: ${message} (config_invalid)\n` });
  });

  it('an error names another application’s stream when only one session cannot get its own', async () => {
    await using server = await accountOf('session.demo.>');
    await using system = await startSystem({ nats: server, env: layoutEnv(PER_SESSION) });
    await expect(system.client.tools.taskAdd({ session: 'demo', content: 'x' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(
        /^session\.demo\.> belongs to stream SESSION_demo, but is taken by stream ORDERS/,
      ),
    });
    expect(await system.client.tools.taskAdd({ session: 'other', content: 'x' })).toHaveProperty('task');
  });

  it('an event that only another application’s stream holds does not count as stored', async () => {
    await using server = await startTestNats();
    await using system = await startSystem({ nats: server, env: layoutEnv(PER_SESSION) });
    await system.client.tools.taskAdd({ session: 'demo', content: 'x' });
    const jsm = await system.ports.connection.jetstreamManager();
    await jsm.streams.delete('SESSION_demo');
    await jsm.streams.add({ name: 'ORDERS', subjects: ['session.>'] });
    await expect(system.client.tools.noteAdd({ session: 'demo', content: 'y' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('is taken by stream ORDERS'),
    });
  });

  it('the doctor names another application’s stream, and nothing when there is none', async () => {
    await using server = await startTestNats();
    await using _system = await startSystem({ nats: server });
    expect(of((await doctor(server.url)).found, 'subjects')).toEqual([
      { check: 'subjects', level: 'ok', message: 'no other stream takes subjects of Throughline' },
    ]);
    await using taken = await accountOf('session.demo.>');
    await taken.jsm.streams.add({ name: 'BILLS', subjects: ['dispatch.*.reviewer'] });
    const { code, found } = await doctor(taken.url);
    expect(code).toBe(1);
    const message = (subjects: string, name: string) =>
      `${subjects} is taken in whole or in part by 1 stream of another application: ${name}`;
    expect(of(found, 'subjects')).toEqual([
      { check: 'subjects', level: 'fail', message: message('dispatch.>', 'BILLS'), fix: APART },
      { check: 'subjects', level: 'fail', message: message('session.>', 'ORDERS'), fix: APART },
    ]);
  });
});

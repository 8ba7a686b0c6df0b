import { expect, it } from 'vitest';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { cli } from '../support/cli.js';
import { startSystem } from '../support/system.js';

const TASK = { kind: 'dispatch', role: 'implementer', taskId: '2', taskPrompt: 'Go on.' } as const;
const results = (from: number) =>
  Array.from({ length: 6 }, (_, at) => ({
    task_id: `${from + at}`,
    status: 'completed' as const,
    summary: `step ${from + at}`,
    files_modified: ['src/a.ts'],
  }));

it('an installation is moved to shards by command while its services run, and back, and for good', async () => {
  await using system = await startSystem({ env: { THROUGHLINE_LAYOUT: 'per-session' } });
  const { client, url, ports } = system;
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli(['layout', ...args, '--nats', url]);
    return { code, said: stdout + stderr };
  };
  const published = async (session: string, from: number) => {
    let newest = 0;
    for (const result of results(from)) newest = (await client.publishImplementer(session, result)).sequence;
    return newest;
  };
  const prompt = async (session: string, after: number) =>
    (await client.compile({ session, ...TASK, after })).prompt;
  const newest = await published('one', 1);
  await published('two', 1);
  const before = await prompt('one', newest);
  const past = (await client.compile({ session: 'one', ...TASK, after: newest })).sequence;

  expect(await run('show')).toMatchObject({
    code: 0,
    said: expect.stringContaining('2 sessions with a stream each'),
  });
  const moved = await run('migrate', '--shards', '4', '--json');
  expect(JSON.parse(moved.said)).toEqual({
    layout: { layout: 'moving', shards: 4, towards: 'sharded' },
    moved: 2,
    failed: [],
  });
  expect(await prompt('one', newest)).toBe(before);
  const later = await published('one', 20);
  const between = await prompt('one', later);
  expect(between).not.toBe(before);
  // Sequences of the session are others now, and those from before name nothing.
  const refused = await client.compilePast({ session: 'one', ...TASK, asOf: past }).catch((error) => error);
  expect(refused).toBeInstanceOf(ThroughlineError);
  expect(refused).toMatchObject({ code: 'not_found', message: expect.stringContaining('begins at') });
  const doctor = await cli(['doctor', '--nats', url]);
  expect(doctor.stdout).toContain(
    'a move of sessions to shards is not finished: 2 of 2 sessions are in 4 shards',
  );
  expect(await run('migrate', '--shards', '8')).toMatchObject({
    code: 2,
    said: expect.stringMatching(
      /sessions are being moved to 4 shards: leave out --shards.* --back" takes it back/,
    ),
  });

  expect(await run('migrate', '--back')).toMatchObject({
    code: 0,
    said: expect.stringContaining('2 sessions moved; a stream per session'),
  });
  expect(await prompt('one', later)).toBe(between);
  await published('new', 1);

  expect(await run('migrate', '--shards', '4', '--finish')).toMatchObject({
    code: 0,
    said: expect.stringContaining('3 sessions moved; sessions in 4 shards'),
  });
  expect(await prompt('one', later)).toBe(between);
  const last = await published('later', 1);
  expect(await prompt('later', last)).toContain('step 6');
  expect((await ports.log.sessions()).sort()).toEqual(['later', 'new', 'one', 'two']);
  expect(ports.layout).toEqual({ layout: 'sharded', shards: 4 });
  expect(await run('show', '--json')).toMatchObject({
    said: expect.stringContaining('"sessions":{"own":0,"sharded":4},"onTheirWay":0,"left":0'),
  });
  expect(await run('migrate', '--back')).toMatchObject({
    code: 1,
    said: expect.stringContaining('is finished'),
  });
});

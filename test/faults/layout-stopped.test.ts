import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { type Token, token } from '../../src/contracts/names.js';
import { BIN, cleanEnv, cli } from '../support/cli.js';
import { canonicalOf } from '../support/moved-layout.js';
import { soon } from '../support/soon.js';
import { allDealtWith, implemented, startSystem } from '../support/system.js';

it('a move that stood still, and was taken back meanwhile, does nothing more when it goes on', async () => {
  await using system = await startSystem({ env: { THROUGHLINE_LAYOUT: 'per-session' } });
  const { client, ports, url } = system;
  const sessions = Array.from({ length: 60 }, (_, index) => token(`session-${index}`, 'session'));
  for (const session of sessions)
    await Promise.all(['1', '2', '3'].map((task) => client.publishImplementer(session, implemented(task))));
  await allDealtWith(ports);
  const before = new Map<Token, string>();
  for (const session of sessions) before.set(session, await canonicalOf(ports.log, session));

  const stopped = spawn(process.execPath, [BIN, 'layout', 'migrate', '--shards', '2', '--nats', url], {
    env: cleanEnv(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = text(stopped.stderr);
  const ended = once(stopped, 'close');
  await soon(async () => {
    const places = (await ports.moving.own.list()).map(({ place }) => place);
    expect(places).toContain('moved');
  });
  stopped.kill('SIGSTOP');
  const back = await cli(['layout', 'migrate', '--back', '--nats', url]);
  expect(back).toMatchObject({ code: 0, stdout: expect.stringContaining('a stream per session') });
  stopped.kill('SIGCONT');

  expect(await ended).toEqual([1, null]);
  expect(await said).toMatch(/another process has moved sessions while this one stood still/);
  const places = (await ports.moving.own.list()).map(({ place }) => place);
  expect([...new Set(places)]).toEqual(['own']);
  for (const session of sessions) expect(await canonicalOf(ports.log, session)).toBe(before.get(session));
  for (const session of sessions) {
    const { sequence } = await client.publishImplementer(session, implemented('4', { summary: 'later' }));
    const { prompt } = await client.compile({ session, taskId: '4', taskPrompt: 'go on', after: sequence });
    expect(prompt).toContain('later');
  }
});

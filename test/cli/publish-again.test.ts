import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { DISPATCH_STREAM } from '../../src/contracts/names.js';
import { BIN, cleanEnv, cli } from '../support/cli.js';
import { plainConnection } from '../support/nats-server.js';
import { implemented, startPrivateSystem, startSystem } from '../support/system.js';

it('publish without an answer says how to try again so that the result counts once', async () => {
  await using system = await startSystem({ only: [] });
  const input = JSON.stringify(implemented('1'));
  const env = { NATS_URL: system.url, THROUGHLINE_TUNING: 'requestTimeoutMs=300' };
  const jsm = await system.ports.connection.jetstreamManager();
  const { config } = await jsm.streams.info(DISPATCH_STREAM);
  await jsm.streams.delete(DISPATCH_STREAM);
  // A listener without answers: only the deadline tells.
  const deaf = await plainConnection(system.url);
  deaf.subscribe('dispatch.>');
  await deaf.flush();
  const failed = await cli(['publish', 'implementer', '-s', 'demo', '--timeout', '4s'], { env, input });
  expect(failed).toMatchObject({ code: 1, stdout: '' });
  expect(failed.stderr).toMatch(
    /^-- no answer yet, trying again until \d\d:\d\d:\d\d: .* no PubAck within 300 ms\n/,
  );
  expect(failed.stderr.split('no answer yet')).toHaveLength(2);
  const [, id = ''] =
    /try again with --id (demo:\S+), and it counts once \(unavailable\)/.exec(failed.stderr) ?? [];
  expect(id).toMatch(/^demo:/);
  await deaf.close();
  await jsm.streams.add(config);
  const again = () => cli(['publish', 'implementer', '-s', 'demo', '--id', id], { env, input });
  expect([(await again()).stdout, (await again()).stdout]).toEqual(['1\n', '1\n']);
});

it('publish waits for a server that is away at first, says so once, and is stored once', async () => {
  await using system = await startPrivateSystem({ only: [] });
  await system.nats.kill();
  const child = spawn(process.execPath, [BIN, 'publish', 'implementer', '-s', 'demo', '--json'], {
    env: cleanEnv({ NATS_URL: system.url }),
  });
  child.stdin.end(JSON.stringify(implemented('1')));
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (words: string) => said.push(words));
  const answered = text(child.stdout);
  await once(child.stderr, 'data');
  await system.nats.restart();
  expect(await answered).toBe('{"sequence":1}\n');
  expect(said.join('')).toMatch(
    /^-- no answer yet, trying again until [\d:]{8}: no NATS server answers at .*\n$/,
  );
  const next = await cli(['publish', 'implementer', '-s', 'demo'], {
    env: { NATS_URL: system.url },
    input: JSON.stringify(implemented('2')),
  });
  expect(next.stdout).toBe('2\n');
});

it('publish says what a wrong time should be', async () => {
  const refused = await cli(['publish', 'reviewer', '--timeout', '0s']);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('Use a time from 1ms to 24h, such as 500ms, 30s or 5m');
});
